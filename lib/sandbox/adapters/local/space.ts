/** Disk space, which is reserved for a jail before it starts. */
export interface SandboxSpace {
  /** Throws when nothing can be reserved at present. */
  reserve(sessionId: string, wantedBytes: number): Promise<ReservedSpace>;
}

export interface ReservedSpace {
  /** The limit for all of the session's files; at most the requested one. */
  readonly grantedBytes: number;
  /** Replaces the reservation by the measured size of the files. */
  settle(bytes: number): Promise<void>;
}
