/** ntfy: its JSON, posted to the server (https://docs.ntfy.sh/publish/#publish-as-json). */
import { type PushMessage, topicOf } from './message.ts';
import type { PostRequest } from './post.ts';
import type { NtfyTarget } from './targets.ts';

const authorization = (token: string | undefined): Record<string, string> =>
  token === undefined ? {} : { Authorization: `Bearer ${token}` };

export function ntfyRequest({ url, topic, token }: NtfyTarget, message: PushMessage): PostRequest {
  const body = {
    topic,
    title: message.title,
    message: message.body,
    priority: message.urgent ? 4 : 3,
    click: message.link,
    sequence_id: topicOf(message),
  };
  const headers = { 'Content-Type': 'application/json', ...authorization(token) };
  return { url: new URL(url), headers, body: JSON.stringify(body) };
}

/** Dismisses the notification about this topic (https://docs.ntfy.sh/publish/#clearing-notifications). */
export function ntfyClearRequest({ url, topic, token }: NtfyTarget, about: string): PostRequest {
  const server = url.endsWith('/') ? url : `${url}/`;
  const path = `${topic}/${topicOf({ topic: about })}/clear`;
  return { method: 'PUT', url: new URL(path, server), headers: authorization(token), body: '' };
}
