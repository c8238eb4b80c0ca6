import { listAt, textAt } from "../_state/tool-call.ts";

/** Names the files of the workspace that a turn could not store as they were. */
export function WorkspaceNotice({ data }: { readonly data: unknown }) {
  const conflicts = listAt(data, "conflicts");
  const skipped = listAt(data, "skipped");
  const isStored = conflicts.length > 0 || skipped.length > 0;
  return (
    <ul className="list-none text-xs text-muted-foreground">
      {!isStored && <li>The workspace could not be saved. The next answer saves it.</li>}
      {conflicts.map((conflict) => (
        <li key={textAt(conflict, "stored_as")}>
          {`${textAt(conflict, "path")} was changed by someone else. This version is saved as ${textAt(conflict, "stored_as")}.`}
        </li>
      ))}
      {skipped.map((file) => (
        <li key={textAt(file, "path")}>
          {`${textAt(file, "path")} was not saved: ${textAt(file, "reason")}.`}
        </li>
      ))}
    </ul>
  );
}
