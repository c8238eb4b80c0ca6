/** Identifies a turn of an account. */
export interface TurnKey {
  readonly accountId: string;
  readonly turnId: string;
}

/** Identifies a turn as one process has loaded it. */
export interface LoadedTurnKey extends TurnKey {
  readonly load: number;
}

/** Fails the step of a process that has come back from a pause in which another one took its turn over. */
export function refuseSuperseded(superseded: boolean, turnId: string): void {
  if (superseded) throw new Error(`The turn ${turnId} was loaded by another process meanwhile`);
}
