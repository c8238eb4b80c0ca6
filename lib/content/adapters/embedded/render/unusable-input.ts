/** Thrown where a caller's file turns out not to be usable; anything else thrown is a failure of ours. */
export class UnusableInput extends Error {
  /** @param message one sentence, safe to show to any caller */
  constructor(message: string) {
    super(message);
    this.name = "UnusableInput";
  }
}
