import { cn } from "../../_ui/class-names.ts";
import { Circle, CircleCheck, CircleDot } from "../../_ui/icons.tsx";
import { readTodos, type Todo } from "../_state/tool-call.ts";

const states: Readonly<
  Record<Todo["status"], { icon: typeof Circle; label: string; style: string }>
> = {
  pending: { icon: Circle, label: "To do:", style: "text-muted-foreground" },
  in_progress: { icon: CircleDot, label: "In progress:", style: "text-accent-text" },
  completed: { icon: CircleCheck, label: "Done:", style: "text-success-text" },
};

/** The plan of the agent with the status of each step. */
export const TodoList = ({ input }: { readonly input: unknown }) => (
  <ul
    aria-label="Plan"
    className="my-1 flex flex-col gap-1.5 rounded-lg border bg-surface px-3 py-2.5"
  >
    {readTodos(input).map(({ id, content, status }) => {
      const { icon: Icon, label, style } = states[status];
      return (
        <li key={id} className="flex items-start gap-2">
          <Icon role="img" aria-label={label} className={cn("mt-[3px] size-4 shrink-0", style)} />
          <span
            className={cn(
              "min-w-0 [overflow-wrap:anywhere]",
              status === "completed" && "text-muted-foreground line-through",
              status === "in_progress" && "font-medium",
            )}
          >
            {content}
          </span>
        </li>
      );
    })}
  </ul>
);
