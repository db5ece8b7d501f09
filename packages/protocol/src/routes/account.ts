/** The rows of `routes` for the caller: the account, its data, and its audit. */
import { AccountExport } from '../rest/account-export.ts';
import { AuditPage, AuditQuery } from '../rest/audit.ts';
import * as people from '../rest/people.ts';

export const accountRoutes = {
  me: {
    method: 'GET',
    path: '/api/me',
    credential: 'user',
    summary: 'The caller',
    success: { 200: people.Me },
    errors: [],
  },
  deleteMe: {
    method: 'DELETE',
    path: '/api/me',
    credential: 'user',
    summary: 'Delete the account and all data of the person at once',
    scope: ['sessions:write', 'devices:write'],
    body: people.DeleteAccount,
    success: { 204: undefined },
    errors: ['SIGN_IN_NOT_RECENT'],
  },
  exportMe: {
    method: 'GET',
    path: '/api/me/export',
    credential: 'user',
    summary: 'Export all data of the person as one document; at most six times in ten minutes',
    scope: ['sessions:read', 'devices:read'],
    success: { 200: AccountExport },
    errors: [],
    limit: 'export',
    streamed: true,
  },
} as const;

export const auditRoutes = {
  listAudit: {
    method: 'GET',
    path: '/api/me/audit',
    credential: 'user',
    summary: 'The audit log of the user, newest first',
    scope: ['sessions:read', 'devices:read'],
    query: AuditQuery,
    success: { 200: AuditPage },
    errors: [],
  },
} as const;

export const ticketRoutes = {
  createTicket: {
    method: 'POST',
    path: '/api/ws-tickets',
    credential: 'user',
    summary: 'A single-use credential for `/ws/attention`',
    scope: 'sessions:read',
    success: { 201: people.Ticket },
    errors: [],
  },
} as const;
