import { useEffect, useId, useRef, useState } from "react";
import { useQuery } from "../../_hooks/use-query.ts";
import { lazyComponent } from "../../_load/lazy-component.tsx";
import { pathOf } from "../_list/row-target.ts";
import type { ChatAddress } from "../_state/attachment.ts";
import type { ChatContext } from "./composer-extras.tsx";

const ContextParts = lazyComponent(() => import("./composer-extras.tsx"), "ContextParts");

/** A turn compacts the conversation above this share. */
const COMPACTED_PERCENT = 75;

/** The chat is usable by then, so its own requests come first. */
const READ_DELAY_MS = 500;

interface ContextGaugeProps extends ChatAddress {
  /** Identifies the model and the newest message; null while a turn is active. A change reads the context again. */
  readonly version: string | null;
}

/** The share of the model's context that a chat uses, once it is known; its parts for who points at it. */
export function ContextGauge({ version, ...address }: ContextGaugeProps) {
  const [isWanted, setWanted] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setWanted(true), READ_DELAY_MS);
    return () => clearTimeout(timer);
  }, []);
  const path = isWanted ? `${pathOf(address)}/context` : null;
  const { data: context, reload } = useQuery<ChatContext>(path);
  const readVersion = useRef(version);
  useEffect(() => {
    if (!isWanted || version === readVersion.current) return;
    readVersion.current = version;
    if (version !== null) reload();
  }, [isWanted, version, reload]);
  const [isOpen, setOpen] = useState(false);
  const id = useId();
  if (!context) return null;
  const percent = Math.min(100, Math.round((context.tokens / context.budget) * 100));
  const open = () => setOpen(true);
  const close = () => setOpen(false);
  return (
    <div className="relative flex" onPointerEnter={open} onPointerLeave={close}>
      {/* A button, because a key and a finger show the parts, too. */}
      <button
        type="button"
        aria-label={`Context: ${percent} % used`}
        aria-describedby={id}
        onFocus={open}
        onBlur={close}
        className="grid size-8 place-items-center rounded-lg hover:bg-hover"
      >
        <svg aria-hidden viewBox="0 0 16 16" className="size-4 -rotate-90 fill-none stroke-3">
          <circle cx="8" cy="8" r="6" className="stroke-input" />
          <circle
            cx="8"
            cy="8"
            r="6"
            pathLength="100"
            strokeDasharray={`${percent} 100`}
            className={percent < COMPACTED_PERCENT ? "stroke-accent" : "stroke-warning-text"}
          />
        </svg>
      </button>
      {isOpen && <ContextParts id={id} context={context} />}
    </div>
  );
}
