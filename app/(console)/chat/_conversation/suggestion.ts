/** Its prompt can have variables, and is put into the box to be completed. */
export interface Suggestion {
  readonly title: string;
  readonly prompt: string;
  /** The prompt for the files of the example artist. */
  readonly sample?: string | undefined;
}

/** A variable of a prompt, such as `{artist}`. */
export const VARIABLE = /\{([A-Za-z][\w -]{0,39})\}/g;

/** Returns the names of a prompt's variables, without repetitions. */
export const variablesIn = (prompt: string): readonly string[] => [
  ...new Set([...prompt.matchAll(VARIABLE)].map(([, name = ""]) => name)),
];
