/**
 * The data of running turns and generations that servers of the previous version read until they
 * are replaced.
 */
import { expect, test } from "vitest";
import { taskRun } from "../../lib/task-runs/task-run.ts";
import { createRows } from "./rows.ts";
import { rolledBack } from "./transaction.ts";

test("the sandbox of a session, and a task run that is under way", async () => {
  await rolledBack(async (transaction) => {
    const account_id = await transaction.account();
    const { session, taskRun: id } = await createRows(transaction, account_id);
    expect(
      await transaction.call("get_session", { account_id, session_id: session }),
    ).toMatchObject({ session: { sandboxState: { name: "own" } } });
    const found = taskRun.parse(await transaction.call("get_task_run", { account_id, id }));
    expect(found).toMatchObject({ id, status: "EXECUTING", taskIdentifier: "own" });
  });
});
