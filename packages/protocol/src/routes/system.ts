/** The rows of `routes` for the state of an instance and the documents of the API. */
import * as people from '../rest/people.ts';
import { Type } from '../schema.ts';

export const systemRoutes = {
  health: {
    method: 'GET',
    path: '/health',
    credential: 'none',
    summary: 'Whether the process is alive',
    success: { 200: people.Health },
    errors: [],
    limit: 'none',
  },
  ready: {
    method: 'GET',
    path: '/ready',
    credential: 'none',
    summary: 'Whether this instance accepts work',
    success: { 200: people.Readiness, 503: people.Readiness },
    errors: [],
    limit: 'none',
  },
  openapi: {
    method: 'GET',
    path: '/api/openapi.json',
    credential: 'none',
    summary: 'This document',
    success: { 200: Type.Object({}) },
    errors: [],
  },
  asyncapi: {
    method: 'GET',
    path: '/api/asyncapi.json',
    credential: 'none',
    summary: 'The WebSocket planes',
    success: { 200: Type.Object({}) },
    errors: [],
  },
} as const;
