/** Thrown when a caller's file cannot be used. All other errors in the child are failures of ours. */
export class UnusableInput extends Error {
  /**
   * @param message a sentence that callers can see
   * @param cause the error of the decoder or the parser, for the operator's log only
   */
  constructor(message: string, cause?: unknown) {
    super(message, { cause });
    this.name = "UnusableInput";
  }
}
