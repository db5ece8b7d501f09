#!/usr/bin/env node
// Local mock LLM for driving real coding agents with no network and no model. No dependencies. Listens on 127.0.0.1 only. Speaks
// four wire formats, all streaming:
//   Anthropic   POST /v1/messages (+ /v1/messages/count_tokens)
//   OpenAI      POST /v1/chat/completions
//   OpenAI      POST /v1/responses
//   Gemini      POST /v1beta/models/<m>:streamGenerateContent | :generateContent
// plus GET /v1/models.
//
// The "model" obeys directives found in the newest user message, one per line:
//   @@say TEXT          answer TEXT
//   @@sh CMD            call the agent's shell tool with CMD (leading '!' asks Codex to run outside its sandbox)
//   @@write PATH TEXT   call the agent's write-file tool
//   @@patch FILE TEXT   add a file with apply_patch, by the shell tool (Codex)
//   @@read PATH         call the agent's read-file tool
//   @@readfile          read the file that the message links: by the read-file tool, else by the shell; nothing without a link
//   @@ask QUESTION      call the agent's ask-the-user tool (if it offers one)
//   @@plan A;B;C        call the agent's todo/plan tool
//   @@tool NAME JSON    call the tool of that name, of an MCP server as well; {{key}} in JSON is that value of an earlier result
//   @@together N        call the tools of the next N directives in one answer
//   @@think TEXT        emit a reasoning block (where the wire format has one), then continue
//   @@lead N            as @@slow, before the first tool call
//   @@slow N            stream N words, 100 ms apart (to test cancel)
//   @@fail STATUS       answer with that HTTP status
//   @@limit KIND AT     refuse as a plan refuses at its usage limit, which resets at AT (Unix time in s). KIND: five_hour or seven_day,
//                       text (no figures), timeless (no time), odd (unknown text), short (an ordinary 429)
//   @@hang              accept the request and never answer
//   @@history           answer with the part of the conversation that the request contains
// Tool directives run in order, one per model call or N together, skipping tools that the agent does not offer; when all are done the answer is
// "DONE <text of last tool result>". No directive: the answer is "ECHO <text>".
//
// Usage: node mock-llm.mjs [--port 0] [--log requests.jsonl] [--dump DIR] First stdout line: {"port":N}
import http from 'node:http';
import fs from 'node:fs';
import path from 'node:path';
import { randomUUID } from 'node:crypto';
import { fileURLToPath, pathToFileURL } from 'node:url';

const sleep = (ms) => new Promise((r) => setTimeout(r, ms));
const clip = (s, n = 300) => (s.length > n ? s.slice(0, n) + '…' : s);

// ---------- request -> neutral conversation ----------
const textOf = (c) =>
  c == null
    ? ''
    : typeof c === 'string'
      ? c
      : Array.isArray(c)
        ? c.map(textOf).join('')
        : (c.text ?? c.input_text ?? c.output_text ?? (c.content != null ? textOf(c.content) : ''));

function fromAnthropic(b) {
  const turns = [];
  for (const m of b.messages ?? []) {
    if (typeof m.content === 'string') {
      turns.push({ role: m.role, text: m.content });
      continue;
    }
    for (const blk of m.content ?? []) {
      if (blk.type === 'text') turns.push({ role: m.role, text: blk.text });
      else if (blk.type === 'tool_use') turns.push({ role: 'call', text: blk.name });
      else if (blk.type === 'tool_result')
        turns.push({ role: 'tool', id: blk.tool_use_id, isError: blk.is_error === true, text: textOf(blk.content) });
    }
  }
  const tools = (b.tools ?? []).map((t) => ({ name: t.name, schema: t.input_schema ?? {} }));
  return { turns, tools, jsonSchema: b.output_config?.format?.schema ?? b.output_format?.schema };
}
function fromChat(b) {
  const turns = [];
  for (const m of b.messages ?? []) {
    if (m.role === 'system' || m.role === 'developer') continue;
    if (m.role === 'tool') turns.push({ role: 'tool', id: m.tool_call_id, text: textOf(m.content) });
    else {
      for (const part of Array.isArray(m.content) ? m.content : [m.content])
        if (textOf(part)) turns.push({ role: m.role, text: textOf(part) });
      for (const c of m.tool_calls ?? []) turns.push({ role: 'call', text: c.function?.name });
    }
  }
  const tools = (b.tools ?? [])
    .filter((t) => t.function)
    .map((t) => ({ name: t.function.name, schema: t.function.parameters ?? {} }));
  const rf = b.response_format;
  return {
    turns,
    tools,
    jsonSchema: rf?.type === 'json_schema' ? rf.json_schema?.schema : rf?.type === 'json_object' ? {} : undefined,
  };
}
function fromResponses(b) {
  const turns = [];
  for (const i of typeof b.input === 'string' ? [{ role: 'user', content: b.input }] : (b.input ?? [])) {
    if (/_output$/.test(i.type ?? '')) turns.push({ role: 'tool', id: i.call_id, text: textOf(i.output) });
    else if (/_call$/.test(i.type ?? '')) turns.push({ role: 'call', text: i.name ?? i.type });
    else if (i.role && i.role !== 'system' && i.role !== 'developer')
      for (const part of Array.isArray(i.content) ? i.content : [i.content])
        turns.push({ role: i.role, text: textOf(part) });
  }
  // Some models get their tools as an item of the input. The tools of an MCP server are in a namespace of its name.
  const added = Array.isArray(b.input) ? b.input.flatMap((i) => (i.type === 'additional_tools' ? i.tools : [])) : [];
  const tools = [...(b.tools ?? []), ...added].flatMap((t) =>
    (t.type === 'namespace' ? t.tools : [t]).map((one) => ({
      name: one.name ?? one.type,
      kind: one.type,
      schema: one.parameters ?? {},
      ...(one === t ? {} : { namespace: t.name }),
    })),
  );
  return { turns, tools, jsonSchema: b.text?.format?.type === 'json_schema' ? b.text.format.schema : undefined };
}
function fromGemini(b) {
  const turns = [];
  for (const c of b.contents ?? [])
    for (const p of c.parts ?? []) {
      if (p.functionResponse) turns.push({ role: 'tool', text: JSON.stringify(p.functionResponse.response ?? {}) });
      else if (p.functionCall) turns.push({ role: 'call', text: p.functionCall.name });
      else if (p.text && !p.thought) turns.push({ role: c.role === 'model' ? 'assistant' : 'user', text: p.text });
    }
  const tools = (b.tools ?? [])
    .flatMap((t) => t.functionDeclarations ?? [])
    .map((t) => ({ name: t.name, schema: t.parametersJsonSchema ?? t.parameters ?? {} }));
  const g = b.generationConfig ?? {};
  return {
    turns,
    tools,
    jsonSchema:
      g.responseMimeType === 'application/json' ? (g.responseJsonSchema ?? g.responseSchema ?? {}) : undefined,
  };
}

// ---------- the behaviour of the "model" ----------
const shell =
  /^(bash|shell|exec_command|shell_command|run_shell_command|local_shell|terminal|execute_command|run_command|execute_bash|developer__shell)$/i;
const TOOL = {
  patch: shell,
  sh: shell,
  write: /^(write|write_file|writefile|create_file|write_to_file|create|fs_write)$/i,
  read: /^(read|read_file|readfile|view|view_image|fs_read)$/i,
  ask: /^(askuserquestion|ask_user|ask_user_question|question|request_user_input|ask)$/i,
  plan: /^(todowrite|todo_write|write_todos|write_tasks|update_plan|todo|settodolist|taskcreate)$/i,
};
/** The directive that reads the file which the newest link names; undefined without a link. */
function readingLink(turns, tools) {
  const users = turns.filter(({ role }) => role === 'user').map(({ text }) => text);
  // Gemini writes the path of the link behind an @.
  const link = [...users.join('\n').matchAll(/(?:file:\/\/|@)(\/[^\s)"'\]<>]+)/g)].at(-1)?.[1];
  if (link === undefined) return undefined;
  const file = fileURLToPath(`file://${link}`);
  const reads = tools.some(({ name }) => TOOL.read.test(name) && name !== 'view_image');
  return reads ? { kind: 'read', rest: file } : { kind: 'sh', rest: `cat '${file}'` };
}
/** Codex's tool that runs JavaScript, which calls all other tools. Its input is a text. */
const runsCode = ({ kind, name }) => kind === 'custom' && name === 'exec';
const slowWords = (count) => Array.from({ length: Number(count) || 50 }, (_, i) => `w${i} `).join('');
const named = ({ rest }) => /^(\S+)\s*(.*)$/.exec(rest) ?? ['', '', ''];
/** Finds values in results of any shape: escaped, in a list, after other text. */
const valueIn = (results, key) =>
  results
    .map((one) => new RegExp(`\\\\*"${key}\\\\*":\\s*\\\\*"([^"\\\\]+)`).exec(one.text)?.[1])
    .filter(Boolean)
    .at(-1) ?? '';
function sample(schema, depth = 0) {
  if (!schema || depth > 6) return 'mock';
  if (schema.const !== undefined) return schema.const;
  if (schema.enum?.length) return schema.enum.includes('user') ? 'user' : schema.enum[0];
  const alt = schema.anyOf ?? schema.oneOf;
  if (alt) return sample(alt[0], depth + 1);
  const type = String(
    Array.isArray(schema.type) ? schema.type[0] : (schema.type ?? (schema.properties ? 'object' : 'string')),
  ).toLowerCase();
  if (type === 'object')
    return Object.fromEntries(Object.entries(schema.properties ?? {}).map(([k, v]) => [k, sample(v, depth + 1)]));
  if (type === 'array')
    return Array.from({ length: Math.max(1, Number(schema.minItems ?? 1)) }, () => sample(schema.items, depth + 1));
  if (type === 'number' || type === 'integer') return schema.minimum ?? 1;
  if (type === 'boolean') return false;
  return 'mock';
}
function toolArgs(kind, d, tool, results = []) {
  if (kind === 'tool')
    return JSON.parse((named(d)[2] || '{}').replace(/\{\{(\w+)\}\}/g, (_all, key) => valueIn(results, key)));
  if (runsCode(tool)) return `text(await tools.exec_command(${JSON.stringify({ cmd: d.rest })}));`;
  const props = tool.schema.properties ?? {};
  const args = {};
  for (const k of tool.schema.required ?? []) args[k] = sample(props[k]);
  const put = (names, v) => {
    const k = names.find((n) => n in props);
    if (k) args[k] = v;
  };
  if (kind === 'patch') {
    const [file, ...text] = d.rest.split(' ');
    const patch = ['*** Begin Patch', `*** Add File: ${file}`, `+${text.join(' ')}`, '*** End Patch'].join('\n');
    return toolArgs('sh', { rest: `apply_patch <<'EOF'\n${patch}\nEOF` }, tool);
  }
  if (kind === 'sh') {
    const k = ['command', 'cmd'].find((n) => n in props) ?? 'command';
    if (/^!/.test(d.rest) && !('sandbox_permissions' in props)) d.rest = d.rest.slice(1);
    args[k] = String(props[k]?.type).toLowerCase() === 'array' ? ['bash', '-lc', d.rest] : d.rest;
    put(['description'], 'mock command');
    for (const n of [
      'timeout',
      'is_background',
      'run_in_background',
      'dir_path',
      'directory',
      'workdir',
      'sandbox_permissions',
      'with_escalated_permissions',
    ])
      if (n in args && !(n === 'is_background')) delete args[n];
    if ('sandbox_permissions' in props && /^!/.test(d.rest)) {
      args[k] = d.rest.slice(1);
      args.sandbox_permissions = 'require_escalated';
      args.justification = 'mock wants to run outside the sandbox';
    }
    if ('timeout' in props && (tool.schema.required ?? []).includes('timeout')) args.timeout = 60;
  } else if (kind === 'write') {
    const [p, ...t] = d.rest.split(' ');
    put(['file_path', 'filePath', 'path', 'absolute_path'], p);
    put(['content', 'contents', 'file_text', 'text'], t.join(' ') + '\n');
  } else if (kind === 'read') put(['file_path', 'filePath', 'path', 'absolute_path'], d.rest);
  else if (kind === 'ask') {
    const opts = ['Red', 'Blue'].map((l) => ({ label: l, description: `${l} option`, value: l }));
    if ('questions' in props) {
      const it = props.questions.items?.properties ?? {};
      const q = { question: d.rest, header: 'Color', options: opts };
      if ('multiSelect' in it) q.multiSelect = false;
      if ('multiple' in it) q.multiple = false;
      if ('multi_select' in it) q.multi_select = false;
      if ('id' in it) q.id = 'color';
      if ('type' in it) q.type = (it.type.enum ?? ['choice']).includes('choice') ? 'choice' : it.type.enum[0];
      if (!it.options?.items?.properties?.value)
        q.options = opts.map(({ label, description }) => ({ label, description }));
      args.questions = [q];
    } else {
      put(['question', 'prompt'], d.rest);
      put(['options'], opts);
    }
  } else if (kind === 'plan') {
    const key = ['todos', 'plan', 'items'].find((k) => k in props);
    if (key) {
      const it = props[key].items?.properties ?? {};
      args[key] = d.rest.split(';').map((s, i) => {
        const e = Object.fromEntries((props[key].items?.required ?? Object.keys(it)).map((k) => [k, sample(it[k])]));
        for (const k of ['content', 'step', 'description', 'title', 'activeForm']) if (k in it) e[k] = s.trim();
        if ('status' in it) e.status = i ? 'pending' : 'in_progress';
        if ('id' in it) e.id = String(i + 1);
        return e;
      });
    } else {
      put(['subject', 'title'], d.rest);
      put(['description'], d.rest);
    }
  }
  return args;
}
export function decide({ turns, tools, jsonSchema }) {
  const isUser = (t) =>
    t.role === 'user' &&
    t.text &&
    !/^\s*<(system-reminder|environment_context|user_instructions|INSTRUCTIONS|permissions|session_context|system)/i.test(
      t.text,
    );
  let at = -1;
  turns.forEach((t, i) => {
    if (isUser(t)) at = i;
  });
  for (let i = at; i >= 0 && turns[i].role === 'user'; i--)
    if (isUser(turns[i]) && turns[i].text.includes('@@')) {
      at = i;
      break;
    }
  const user = at < 0 ? '' : turns[at].text;
  const results = turns.slice(at + 1).filter((t) => t.role === 'tool');
  const ds = [...user.matchAll(/^[ \t]*@@(\w+)[ \t]*(.*)$/gm)]
    .map((m) => ({ kind: m[1], rest: m[2].trim() }))
    .flatMap((d) => (d.kind === 'readfile' ? (readingLink(turns, tools) ?? []) : d));
  if (jsonSchema) return { act: 'json', text: JSON.stringify(sample(jsonSchema)) };
  if (!tools.length) return { act: 'text', text: 'Mock title' };
  const think = ds.find((d) => d.kind === 'think')?.rest;
  const lead = ds.find((d) => d.kind === 'lead');
  const toolFor = (d) =>
    d.kind === 'tool'
      ? tools.find((t) => String(t.name).endsWith(named(d)[1]))
      : (tools.find((t) => TOOL[d.kind].test(t.name)) ??
        tools.find((t) => TOOL[d.kind].test(String(t.name).split(/__|\./).pop())) ??
        (d.kind === 'sh' ? tools.find(runsCode) : undefined));
  // A tool that makes one task is called once for each.
  const isOne = (d) => d.kind === 'plan' && /^taskcreate$/i.test(toolFor(d)?.name ?? '');
  let answer = 0;
  let room = 0;
  const steps = ds
    .flatMap((d) => {
      if (d.kind === 'together') [answer, room] = [answer + 1, Number(d.rest)];
      if (!(d.kind === 'tool' || d.kind in TOOL) || !toolFor(d)) return [];
      if (room > 0) room--;
      else answer++;
      return [{ ...d, answer }];
    })
    .flatMap((d) => (isOne(d) ? d.rest.split(';').map((rest) => ({ ...d, rest: rest.trim() })) : [d]));
  const step = steps[results.length];
  if (step) {
    const together = isOne(step)
      ? [step]
      : steps.slice(results.length).filter((one) => one.answer === step.answer && !isOne(one));
    return {
      act: 'tool',
      say: `Step ${results.length + 1}: ${step.kind}`,
      ...(lead && results.length === 0 ? { text: slowWords(lead.rest), delay: 100 } : {}),
      think,
      calls: together.map((one) => {
        const tool = toolFor(one);
        return { name: tool.name, namespace: tool.namespace, args: toolArgs(one.kind, one, tool, results) };
      }),
    };
  }
  // Some agents merge several user messages into one: the newest final directive counts.
  const last = ds.filter((d) => ['fail', 'limit', 'hang', 'history', 'slow', 'say'].includes(d.kind)).at(-1);
  if (last?.kind === 'fail') return { act: 'fail', status: Number(last.rest) || 500 };
  if (last?.kind === 'limit') {
    const [limit, at] = last.rest.split(' ');
    return { act: 'limit', limit, at: Number(at) };
  }
  if (last?.kind === 'hang') return { act: 'hang' };
  if (last?.kind === 'history') {
    const h = turns
      .filter((t) => (t.role === 'user' && isUser(t)) || t.role === 'assistant')
      .map((t) => `${t.role}:${clip(t.text.trim().replace(/\s+/g, ' '), 60)}`);
    return { act: 'text', think, text: `HISTORY n=${h.length} | ${h.join(' | ')}` };
  }
  if (last?.kind === 'slow') return { act: 'text', think, text: slowWords(last.rest), delay: 100 };
  if (last?.kind === 'say') return { act: 'text', think, text: last.rest };
  if (results.length) return { act: 'text', think, text: `DONE ${clip(results.at(-1).text.trim(), 400)}` };
  return { act: 'text', think, text: `ECHO ${clip(user.trim(), 200)}` };
}

// ---------- neutral answer -> wire ----------
const words = (s) => s.match(/\S+\s*|\s+/g) ?? [''];
async function pump(res, a, emit) {
  for (const w of words(a.text ?? a.say ?? '')) {
    if (res.destroyed) return false;
    emit(w);
    await sleep(a.delay ?? 5);
  }
  return !res.destroyed;
}
const sse = (res, ev, data) =>
  res.write((ev ? `event: ${ev}\n` : '') + `data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`);
const startSse = (res, headers = {}) =>
  res.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache', ...headers });

async function toAnthropic(res, b, a) {
  const id = 'msg_' + randomUUID().replace(/-/g, '').slice(0, 24),
    model = b.model;
  const usage = { input_tokens: 100, output_tokens: 20, cache_creation_input_tokens: 0, cache_read_input_tokens: 0 };
  const calls = (a.calls ?? []).map(({ id: callId, name, args }) => ({
    type: 'tool_use',
    id: callId,
    name,
    input: args,
  }));
  const stop = calls.length > 0 ? 'tool_use' : 'end_turn';
  if (!b.stream) {
    res.writeHead(200, { 'content-type': 'application/json' });
    return res.end(
      JSON.stringify({
        id,
        type: 'message',
        role: 'assistant',
        model,
        content: [{ type: 'text', text: a.text ?? a.say }, ...calls],
        stop_reason: stop,
        stop_sequence: null,
        usage,
      }),
    );
  }
  startSse(res, { 'request-id': 'req_mock' });
  sse(res, 'message_start', {
    type: 'message_start',
    message: {
      id,
      type: 'message',
      role: 'assistant',
      model,
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: { ...usage, output_tokens: 1 },
    },
  });
  let i = 0;
  if (a.think) {
    sse(res, 'content_block_start', {
      type: 'content_block_start',
      index: i,
      content_block: { type: 'thinking', thinking: '', signature: '' },
    });
    sse(res, 'content_block_delta', {
      type: 'content_block_delta',
      index: i,
      delta: { type: 'thinking_delta', thinking: a.think },
    });
    sse(res, 'content_block_delta', {
      type: 'content_block_delta',
      index: i,
      delta: { type: 'signature_delta', signature: 'bW9jaw==' },
    });
    sse(res, 'content_block_stop', { type: 'content_block_stop', index: i++ });
  }
  sse(res, 'content_block_start', { type: 'content_block_start', index: i, content_block: { type: 'text', text: '' } });
  if (
    !(await pump(res, a, (w) =>
      sse(res, 'content_block_delta', {
        type: 'content_block_delta',
        index: i,
        delta: { type: 'text_delta', text: w },
      }),
    ))
  )
    return;
  sse(res, 'content_block_stop', { type: 'content_block_stop', index: i++ });
  for (const call of calls) {
    sse(res, 'content_block_start', { type: 'content_block_start', index: i, content_block: { ...call, input: {} } });
    sse(res, 'content_block_delta', {
      type: 'content_block_delta',
      index: i,
      delta: { type: 'input_json_delta', partial_json: JSON.stringify(call.input) },
    });
    sse(res, 'content_block_stop', { type: 'content_block_stop', index: i++ });
  }
  sse(res, 'message_delta', { type: 'message_delta', delta: { stop_reason: stop, stop_sequence: null }, usage });
  sse(res, 'message_stop', { type: 'message_stop' });
  res.end();
}
async function toChat(res, b, a) {
  const base = { id: 'chatcmpl-' + randomUUID(), created: Math.floor(Date.now() / 1000), model: b.model };
  const usage = { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120 };
  const calls = (a.calls ?? []).map(({ id, name, args }, index) => ({
    index,
    id,
    type: 'function',
    function: { name, arguments: JSON.stringify(args) },
  }));
  const finish = calls.length > 0 ? 'tool_calls' : 'stop';
  if (!b.stream) {
    res.writeHead(200, { 'content-type': 'application/json' });
    return res.end(
      JSON.stringify({
        ...base,
        object: 'chat.completion',
        choices: [
          {
            index: 0,
            finish_reason: finish,
            message: {
              role: 'assistant',
              content: a.text ?? a.say,
              ...(calls.length > 0 ? { tool_calls: calls } : {}),
            },
          },
        ],
        usage,
      }),
    );
  }
  startSse(res);
  const send = (delta, finish_reason = null, extra = {}) =>
    sse(res, null, {
      ...base,
      object: 'chat.completion.chunk',
      choices: [{ index: 0, delta, finish_reason }],
      ...extra,
    });
  send({ role: 'assistant', content: '' });
  if (a.think) send({ reasoning_content: a.think });
  if (!(await pump(res, a, (w) => send({ content: w })))) return;
  for (const call of calls) send({ tool_calls: [call] });
  send({}, finish);
  sse(res, null, { ...base, object: 'chat.completion.chunk', choices: [], usage });
  sse(res, null, '[DONE]');
  res.end();
}
async function toResponses(res, b, a) {
  const id = 'resp_' + randomUUID().replace(/-/g, '');
  const resp = {
    id,
    object: 'response',
    created_at: Math.floor(Date.now() / 1000),
    model: b.model,
    status: 'in_progress',
    output: [],
    usage: null,
  };
  let seq = 0;
  const ev = (type, o) => sse(res, type, { type, sequence_number: seq++, ...o });
  startSse(res);
  ev('response.created', { response: resp });
  const out = [];
  if (a.think) {
    const r = { type: 'reasoning', id: 'rs_' + randomUUID().slice(0, 8), summary: [] };
    ev('response.output_item.added', { output_index: out.length, item: r });
    ev('response.reasoning_summary_part.added', {
      item_id: r.id,
      output_index: out.length,
      summary_index: 0,
      part: { type: 'summary_text', text: '' },
    });
    ev('response.reasoning_summary_text.delta', {
      item_id: r.id,
      output_index: out.length,
      summary_index: 0,
      delta: a.think,
    });
    ev('response.reasoning_summary_text.done', {
      item_id: r.id,
      output_index: out.length,
      summary_index: 0,
      text: a.think,
    });
    const done = { ...r, summary: [{ type: 'summary_text', text: a.think }] };
    ev('response.output_item.done', { output_index: out.length, item: done });
    out.push(done);
  }
  const m = {
    type: 'message',
    id: 'msg_' + randomUUID().slice(0, 8),
    role: 'assistant',
    status: 'in_progress',
    content: [],
  };
  const idx = out.length;
  ev('response.output_item.added', { output_index: idx, item: m });
  ev('response.content_part.added', {
    item_id: m.id,
    output_index: idx,
    content_index: 0,
    part: { type: 'output_text', text: '', annotations: [] },
  });
  if (
    !(await pump(res, a, (w) =>
      ev('response.output_text.delta', { item_id: m.id, output_index: idx, content_index: 0, delta: w }),
    ))
  )
    return;
  const part = { type: 'output_text', text: a.text ?? a.say ?? '', annotations: [] };
  ev('response.output_text.done', { item_id: m.id, output_index: idx, content_index: 0, text: part.text });
  ev('response.content_part.done', { item_id: m.id, output_index: idx, content_index: 0, part });
  const mDone = { ...m, status: 'completed', content: [part] };
  ev('response.output_item.done', { output_index: idx, item: mDone });
  out.push(mDone);
  for (const call of a.calls ?? []) {
    if (typeof call.args === 'string') {
      const c = { type: 'custom_tool_call', id: 'ctc_' + randomUUID().slice(0, 8), call_id: call.id, name: call.name };
      ev('response.output_item.added', { output_index: out.length, item: { ...c, input: '', status: 'in_progress' } });
      const item = { ...c, input: call.args, status: 'completed' };
      ev('response.output_item.done', { output_index: out.length, item });
      out.push(item);
      continue;
    }
    const f = {
      type: 'function_call',
      id: 'fc_' + randomUUID().slice(0, 8),
      call_id: call.id,
      name: call.name,
      ...(call.namespace ? { namespace: call.namespace } : {}),
      arguments: '',
      status: 'in_progress',
    };
    const args = JSON.stringify(call.args);
    ev('response.output_item.added', { output_index: out.length, item: f });
    ev('response.function_call_arguments.delta', { item_id: f.id, output_index: out.length, delta: args });
    ev('response.function_call_arguments.done', { item_id: f.id, output_index: out.length, arguments: args });
    const fDone = { ...f, arguments: args, status: 'completed' };
    ev('response.output_item.done', { output_index: out.length, item: fDone });
    out.push(fDone);
  }
  const usage = {
    input_tokens: 100,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: 20,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: 120,
  };
  ev('response.completed', { response: { ...resp, status: 'completed', output: out, usage } });
  res.end();
}
async function toGemini(res, b, a, stream) {
  const usageMetadata = { promptTokenCount: 100, candidatesTokenCount: 20, totalTokenCount: 120 };
  const cand = (parts, finishReason) => ({
    candidates: [{ index: 0, content: { role: 'model', parts }, ...(finishReason ? { finishReason } : {}) }],
    usageMetadata,
    modelVersion: 'mock',
  });
  const calls = (a.calls ?? []).map(({ name, args }) => ({ functionCall: { name, args } }));
  if (!stream) {
    res.writeHead(200, { 'content-type': 'application/json' });
    return res.end(JSON.stringify(cand([{ text: a.text ?? a.say ?? '' }, ...calls], 'STOP')));
  }
  startSse(res);
  if (a.think) sse(res, null, cand([{ text: `**Thinking** ${a.think}`, thought: true }]));
  if (!(await pump(res, a, (w) => sse(res, null, cand([{ text: w }]))))) return;
  sse(res, null, cand(calls.length > 0 ? calls : [{ text: '' }], 'STOP'));
  res.end();
}

/** The effort that a request asks for, in the field of each wire format. */
const effortOf = (b) => b.output_config?.effort ?? b.reasoning?.effort ?? b.reasoning_effort;

/** Headers and body of a refusal at a usage limit, as the subscription of the vendor sends them. Neither is worth a retry. */
function refusalOf(fmt, { limit, at }) {
  const now = Math.floor(Date.now() / 1000);
  const headers = { 'x-should-retry': 'false' };
  if (fmt === 'anthropic') {
    const error = { type: 'rate_limit_error', message: 'This request would exceed the rate limit of your account.' };
    if (limit === 'short') return { headers, body: { type: 'error', error } };
    Object.assign(headers, { 'anthropic-ratelimit-unified-status': 'rejected', 'retry-after': `${at - now}` });
    // A gateway: the client prints the message as it is.
    const odd = { type: 'billing_error', message: 'The moon is full.' };
    if (limit === 'odd') return { headers, body: { type: 'error', error: odd } };
    const window = limit === 'seven_day' ? '7d' : '5h';
    const figures = {
      reset: `${at}`,
      'representative-claim': limit,
      'overage-status': 'rejected',
      'overage-disabled-reason': 'org_level_disabled',
      [`${window}-status`]: 'rejected',
      [`${window}-reset`]: `${at}`,
      [`${window}-utilization`]: '1.0',
    };
    for (const [name, value] of Object.entries(figures)) headers[`anthropic-ratelimit-unified-${name}`] = value;
    return { headers, body: { type: 'error', error } };
  }
  if (limit === 'short' || limit === 'odd') {
    const type = limit === 'short' ? 'rate_limit_exceeded' : 'moon_is_full';
    return { headers, body: { error: { type, code: type, message: 'Slow down.' } } };
  }
  const body = { type: 'usage_limit_reached', message: 'The usage limit has been reached', plan_type: 'pro' };
  if (limit !== 'timeless') Object.assign(body, { resets_at: at });
  if (limit === 'five_hour' || limit === 'seven_day')
    Object.assign(headers, {
      'x-codex-primary-used-percent': '100',
      'x-codex-primary-window-minutes': limit === 'seven_day' ? '10080' : '300',
      'x-codex-primary-reset-at': `${at}`,
    });
  return { headers, body: { error: body } };
}

const MODELS = ['mock-model', 'mock-small'];
export function startMock({ port = 0, log, dump } = {}) {
  const requests = [];
  let n = 0;
  const server = http.createServer(async (req, res) => {
    res.on('error', () => {});
    const url = new URL(req.url, 'http://x');
    let raw = '';
    try {
      for await (const c of req) raw += c;
    } catch {
      // A killed agent leaves half a request.
      return;
    }
    let b = {};
    try {
      b = raw ? JSON.parse(raw) : {};
    } catch {
      /* not JSON */
    }
    const p = url.pathname;
    const rec = { n: ++n, t: new Date().toISOString(), method: req.method, path: p, model: b.model };
    const done = (extra) => {
      Object.assign(rec, extra);
      requests.push(rec);
      if (log) fs.appendFileSync(log, JSON.stringify(rec) + '\n');
      if (dump) {
        fs.mkdirSync(dump, { recursive: true });
        fs.writeFileSync(
          path.join(dump, `${String(rec.n).padStart(3, '0')}.json`),
          JSON.stringify({ ...rec, headers: req.headers, body: b }, null, 1),
        );
      }
    };
    const json = (code, o) => {
      res.writeHead(code, { 'content-type': 'application/json' });
      res.end(JSON.stringify(o));
    };
    try {
      if (req.method === 'GET' && /\/models$/.test(p)) {
        done({ act: 'models' });
        return json(200, {
          object: 'list',
          data: MODELS.map((id) => ({
            id,
            object: 'model',
            type: 'model',
            display_name: id,
            created: 0,
            created_at: '2026-01-01T00:00:00Z',
            owned_by: 'mock',
          })),
          models: [],
          has_more: false,
        });
      }
      if (/count_tokens$|:countTokens$/.test(p)) {
        done({ act: 'count' });
        return json(200, { input_tokens: 100, totalTokens: 100 });
      }
      const fmt = /\/messages$/.test(p)
        ? 'anthropic'
        : /\/chat\/completions$/.test(p)
          ? 'chat'
          : /\/responses$/.test(p)
            ? 'responses'
            : /:(stream)?[gG]enerateContent$/.test(p)
              ? 'gemini'
              : null;
      if (!fmt || req.method !== 'POST') {
        done({ act: '404' });
        return json(404, { error: { type: 'not_found_error', message: `mock has no ${req.method} ${p}` } });
      }
      const conv = { anthropic: fromAnthropic, chat: fromChat, responses: fromResponses, gemini: fromGemini }[fmt](b);
      const a = decide(conv);
      const short = () => randomUUID().replace(/-/g, '').slice(0, 22);
      for (const call of a.calls ?? []) call.id = (fmt === 'anthropic' ? 'toolu_' : 'call_') + short();
      done({
        // The model's log: its text, its calls, and the results in the request.
        text: a.text ?? a.say ?? '',
        calls: (a.calls ?? []).map(({ id, name, args }) => ({ id, name, args })),
        results: conv.turns.filter(({ role }) => role === 'tool'),
        users: conv.turns.filter(({ role }) => role === 'user').map(({ text }) => text),
        fmt,
        effort: effortOf(b),
        stream: !!b.stream,
        nTurns: conv.turns.length,
        tools: conv.tools.map((t) => t.name),
        lastUser: clip(conv.turns.filter((t) => t.role === 'user').at(-1)?.text ?? '', 160),
        act: a.act,
        reply: clip(a.text ?? JSON.stringify(a.calls) ?? '', 200),
      });
      res.on('close', () => {
        if (!res.writableFinished) {
          rec.aborted = true;
          if (log) fs.appendFileSync(log, JSON.stringify({ n: rec.n, aborted: true }) + '\n');
        }
      });
      if (a.act === 'hang') return;
      if (a.act === 'limit') {
        const { headers, body } = refusalOf(fmt, a);
        res.writeHead(429, { 'content-type': 'application/json', ...headers });
        return res.end(JSON.stringify(body));
      }
      if (a.act === 'fail')
        return json(a.status, {
          type: 'error',
          error: {
            type: a.status === 401 ? 'authentication_error' : a.status === 429 ? 'rate_limit_error' : 'api_error',
            code: a.status,
            message: `mock failure ${a.status}`,
            status: 'MOCK',
          },
        });
      if (fmt === 'anthropic') return await toAnthropic(res, b, a);
      if (fmt === 'chat') return await toChat(res, b, a);
      if (fmt === 'responses') return await toResponses(res, b, a);
      return await toGemini(res, b, a, /stream/.test(p));
    } catch (e) {
      done({ act: 'bug', error: String(e?.stack ?? e) });
      if (!res.headersSent) json(500, { error: { message: String(e) } });
      else res.destroy();
    }
  });
  return new Promise((ok) =>
    server.listen(port, '127.0.0.1', () =>
      ok({
        port: server.address().port,
        url: `http://127.0.0.1:${server.address().port}`,
        requests,
        close: () => {
          server.closeAllConnections();
          server.close();
        },
      }),
    ),
  );
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const opt = (k) => {
    const i = process.argv.indexOf(k);
    return i > 0 ? process.argv[i + 1] : undefined;
  };
  const m = await startMock({ port: Number(opt('--port') ?? 0), log: opt('--log'), dump: opt('--dump') });
  console.log(JSON.stringify({ port: m.port }));
}
