/** What a jail may fill, as it is handed out before the jail starts. */
export interface SandboxSpace {
  /** @throws Error when nothing can be reserved now */
  reserve(sessionId: string, wantedBytes: number): Promise<ReservedSpace>;
}

export interface ReservedSpace {
  /** What the session's files may take in all; at most what was wanted. */
  readonly grantedBytes: number;
  /** Replaces the reservation by what the files do take. */
  settle(bytes: number): Promise<void>;
}
