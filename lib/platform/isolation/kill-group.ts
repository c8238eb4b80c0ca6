/**
 * Kills a child that was spawned `detached`, with all that it has started: also a helper of the
 * isolation whose parent died before it could tie itself to it. Such a helper would keep the child's
 * channel open for ever.
 * @param leader the id of the child; undefined when it did not start.
 */
export function killGroup(leader: number | undefined): void {
  try {
    if (leader !== undefined) process.kill(-leader, "SIGKILL");
  } catch {
    // The group has ended already.
  }
}
