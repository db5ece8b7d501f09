/** Why something did not work, with a stable code: the relay's own, one of the sign-in, or one of the three made here. */
export class Refusal extends Error {
  readonly code: string;
  /** 0 when there was no answer. */
  readonly status: number;
  readonly retryAfterSeconds: number | undefined;

  constructor(code: string, message: string, status = 0, retryAfterSeconds?: number) {
    super(message);
    this.name = 'Refusal';
    this.code = code;
    this.status = status;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

export const refusalOf = (error: unknown): Refusal =>
  error instanceof Refusal ? error : new Refusal('UNEXPECTED', error instanceof Error ? error.message : String(error));
