/** The rows of `routes` for the state of an instance and the documents of the API. */
import { endpoints } from '../endpoints.ts';
import * as people from '../rest/people.ts';
import { Type } from '../schema.ts';

export const systemRoutes = {
  health: {
    ...endpoints.health,
    summary: 'Whether the process is alive',
    success: { 200: people.Health },
    errors: [],
    limit: 'none',
  },
  ready: {
    ...endpoints.ready,
    summary: 'Whether this instance accepts work',
    success: { 200: people.Readiness, 503: people.Readiness },
    errors: [],
    limit: 'none',
  },
  openapi: {
    ...endpoints.openapi,
    summary: 'This document',
    success: { 200: Type.Object({}) },
    errors: [],
  },
  asyncapi: {
    ...endpoints.asyncapi,
    summary: 'The WebSocket planes',
    success: { 200: Type.Object({}) },
    errors: [],
  },
} as const;
