import { type ClipboardEvent, type KeyboardEvent, useState } from "react";
import { cn } from "./class-names.ts";
import { controlStyle, inField } from "./form.tsx";
import { X } from "./icons.tsx";

interface ChipsInputProps {
  readonly id: string;
  readonly "aria-describedby"?: string;
  readonly "aria-invalid"?: true;
  readonly value: readonly string[];
  readonly onChange: (values: string[]) => void;
  /** Returns true for the index of an invalid text. */
  readonly isInvalid?: (index: number) => boolean;
  readonly placeholder?: string;
}

/** An input for several short texts. Enter, a comma or leaving the field adds the typed text. */
export function ChipsInput({
  value: values,
  onChange,
  isInvalid,
  placeholder,
  ...ids
}: ChipsInputProps) {
  const [typed, setTyped] = useState("");
  const take = (text: string) => {
    const added = text.split(/[,\n]/).map((one) => one.trim());
    const next = [...new Set([...values, ...added.filter((one) => one !== "")])];
    if (next.length !== values.length) onChange(next);
    setTyped("");
  };
  const keyDown = (event: KeyboardEvent) => {
    if ((event.key === "Enter" || event.key === ",") && !event.nativeEvent.isComposing) {
      event.preventDefault();
      take(typed);
    } else if (event.key === "Backspace" && typed === "" && values.length > 0) {
      onChange(values.slice(0, -1));
    }
  };
  const paste = (event: ClipboardEvent) => {
    const text = event.clipboardData.getData("text");
    if (!/[,\n]/.test(text)) return;
    event.preventDefault();
    take(typed + text);
  };
  return (
    <div
      className={cn(
        controlStyle,
        "flex min-h-9 flex-wrap items-center gap-1 px-1.5 py-1 focus-within:outline-2 focus-within:-outline-offset-1 focus-within:outline-ring",
        ids["aria-invalid"] && "border-danger-text",
      )}
    >
      {values.map((value, index) => (
        <span
          key={value}
          className={cn(
            "inline-flex max-w-full items-center gap-0.5 rounded-md bg-muted pl-2 text-sm",
            isInvalid?.(index) && "bg-danger-soft text-danger-text",
          )}
        >
          <span className="min-w-0 truncate">{value}</span>
          <button
            type="button"
            aria-label={`Remove ${value}`}
            onClick={() => onChange(values.filter((one) => one !== value))}
            className="grid size-6 shrink-0 place-items-center rounded-md hover:bg-hover"
          >
            <X aria-hidden className="size-3" />
          </button>
        </span>
      ))}
      <input
        {...ids}
        value={typed}
        placeholder={values.length === 0 ? placeholder : undefined}
        onChange={(event) => setTyped(event.target.value)}
        onKeyDown={keyDown}
        onPaste={paste}
        onBlur={() => take(typed)}
        className="h-6 min-w-24 flex-1 bg-transparent px-1.5 outline-none"
      />
    </div>
  );
}

export const ChipsField = inField(ChipsInput);
