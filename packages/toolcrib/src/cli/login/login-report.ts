export interface LoginStep {
  step: string;
  state: 'ok' | 'warning' | 'broken';
  detail: string;
  /** What to do about it. */
  cure?: string;
}

/** Ends a login where a client would give up. */
export class LoginFault extends Error {
  readonly cure: string;

  constructor(message: string, cure: string) {
    super(message);
    this.cure = cure;
  }
}

/** What was seen, step by step. */
export class LoginReport {
  readonly steps: LoginStep[] = [];

  ok(step: string, detail: string): void {
    this.steps.push({ step, state: 'ok', detail });
  }

  warn(step: string, detail: string, cure: string): void {
    this.steps.push({ step, state: 'warning', detail, cure });
  }

  /** A step that ends everything if it fails. */
  async step<Result>(step: string, take: () => Promise<Result> | Result, detailOf?: (result: Result) => string): Promise<Result> {
    try {
      const result = await take();
      if (detailOf !== undefined) this.ok(step, detailOf(result));
      return result;
    } catch (error) {
      const { message } = error as Error;
      const cure = error instanceof LoginFault ? error.cure : 'check the address, and that this machine can reach it';
      this.steps.push({ step, state: 'broken', detail: message, cure });
      throw new LoginEnded();
    }
  }
}

/** The report has said why. */
export class LoginEnded extends Error {}
