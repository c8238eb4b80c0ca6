/** Thrown when a caller's file cannot be used. Every other error in the child is a failure of ours. */
export class UnusableInput extends Error {
  /**
   * @param message One sentence that any caller may see.
   * @param cause What the decoder or the parser said: for the operator's log only.
   */
  constructor(message: string, cause?: unknown) {
    super(message, { cause });
    this.name = "UnusableInput";
  }
}
