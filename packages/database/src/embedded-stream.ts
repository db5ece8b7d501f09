/**
 * A "socket" for the pg driver that leads to the embedded engine, so that the embedded database and PostgreSQL share
 * driver, adapter and errors. Knows the framing of the PostgreSQL protocol and two words of SQL. The engine has one
 * session, so only one stream can be open at a time (a pool of one).
 */
import { Duplex } from 'node:stream';

/** The answering side: complete request cycles in, their complete answers out, one after the other. */
interface Engine {
  request(wire: Uint8Array): Promise<Uint8Array>;
  onEnd(listener: (reason: Error) => void): () => void;
}

const frontend = { query: 0x51, sync: 0x53, flush: 0x48, copyDone: 0x63, copyFail: 0x66, terminate: 0x58 };
/** After these the server answers; everything before them only waits. */
const answered = new Set([frontend.query, frontend.sync, frontend.flush, frontend.copyDone, frontend.copyFail]);

function message(type: string, body: Buffer): Buffer {
  const head = Buffer.alloc(5);
  head.write(type, 0, 'latin1');
  head.writeInt32BE(body.length + 4, 1);
  return Buffer.concat([head, body]);
}

function query(sql: string): Buffer {
  return message('Q', Buffer.from(`${sql}\0`));
}

/** AuthenticationOk, the parameters that drivers read, BackendKeyData, ReadyForQuery. */
const welcome = Buffer.concat([
  message('R', Buffer.alloc(4)),
  ...Object.entries({
    server_version: '18.0',
    client_encoding: 'UTF8',
    DateStyle: 'ISO, MDY',
    TimeZone: 'UTC',
    integer_datetimes: 'on',
    standard_conforming_strings: 'on',
  }).map(([name, value]) => message('S', Buffer.from(`${name}\0${value}\0`))),
  message('K', Buffer.alloc(8)),
  message('Z', Buffer.from('I')),
]);

export class EmbeddedStream extends Duplex {
  readonly #connectEngine: () => Promise<Engine>;
  #engine: Engine | undefined;
  #stopListening: () => void = () => {};
  #pending: Buffer = Buffer.alloc(0);
  #inTransaction = false;

  constructor(connectEngine: () => Promise<Engine>) {
    super();
    this.#connectEngine = connectEngine;
  }

  // The driver calls this on a net.Socket.
  connect(): this {
    process.nextTick(() => this.emit('connect'));
    return this;
  }
  setNoDelay(): this {
    return this;
  }
  setKeepAlive(): this {
    return this;
  }
  ref(): this {
    return this;
  }
  unref(): this {
    return this;
  }

  override _read(): void {}

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#take(chunk).then(() => done(), done);
  }

  override _writev(chunks: { chunk: Buffer }[], done: (error?: Error | null) => void): void {
    this.#take(Buffer.concat(chunks.map(({ chunk }) => chunk))).then(() => done(), done);
  }

  override _final(done: (error?: Error | null) => void): void {
    void this.#rollBack().then(() => {
      this.push(null);
      done();
    });
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#stopListening();
    void this.#rollBack().then(() => done(error));
  }

  /** Rolls back, as a server does when a connection drops: the one session must not stay in a transaction. */
  async #rollBack(): Promise<void> {
    if (!this.#inTransaction) return;
    this.#inTransaction = false;
    await this.#engine?.request(query('ROLLBACK')).catch(() => {}); // gone: rolled back by itself
  }

  async #take(data: Buffer): Promise<void> {
    this.#pending = this.#pending.length > 0 ? Buffer.concat([this.#pending, data]) : data;
    const engine = this.#engine ?? (await this.#begin());
    if (!engine) return;
    for (let request = this.#nextRequest(); request; request = this.#nextRequest()) {
      const answer = await engine.request(request);
      // The last byte of ReadyForQuery: I idle, T in a transaction, E in a failed one.
      if (answer.at(-6) === 0x5a) this.#inTransaction = answer.at(-1) !== 0x49;
      if (this.destroyed) return this.#rollBack();
      this.push(Buffer.from(answer.buffer, answer.byteOffset, answer.byteLength));
    }
  }

  /** The startup packet: a length, then options that the one session of the engine does not have. */
  async #begin(): Promise<Engine | undefined> {
    if (this.#pending.length < 4 || this.#pending.length < this.#pending.readInt32BE(0)) return undefined;
    this.#pending = this.#pending.subarray(this.#pending.readInt32BE(0));
    const engine = await this.#connectEngine();
    this.#stopListening = engine.onEnd((reason) => this.destroy(reason));
    // A new connection is a new session: clear the state of the previous session.
    await engine.request(query('DISCARD ALL'));
    this.#engine = engine;
    this.push(welcome);
    return engine;
  }

  /**
   * Takes everything up to the first complete cycle: after an error the engine would skip the rest. Half messages and
   * unanswered requests wait.
   */
  #nextRequest(): Buffer | undefined {
    let position = 0;
    let end = 0;
    while (this.#pending.length - position >= 5) {
      const length = this.#pending.readInt32BE(position + 1) + 1;
      if (this.#pending.length - position < length) break;
      const type = this.#pending[position]!;
      if (type === frontend.terminate && end === 0) {
        this.#pending = Buffer.alloc(0);
        this.end();
        return undefined;
      }
      position += length;
      if (!answered.has(type)) continue;
      end = position;
      if (type === frontend.sync || type === frontend.query) break;
    }
    if (end === 0) return undefined;
    const request = this.#pending.subarray(0, end);
    this.#pending = this.#pending.subarray(end);
    return request;
  }
}
