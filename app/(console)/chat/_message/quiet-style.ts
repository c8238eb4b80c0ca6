/** Shown when its message is pointed at or has the focus, and always without a mouse or on a phone. */
export const quietStyle =
  "sm:pointer-fine:opacity-0 transition-opacity group-hover/message:opacity-100! group-focus-within/message:opacity-100!";
