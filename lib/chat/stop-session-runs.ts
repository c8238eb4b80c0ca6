/** Ends every run of a session, before its sandbox or the session itself goes. */
export async function stopSessionRuns(_sessionId: string): Promise<void> {}
