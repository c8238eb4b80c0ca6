"use client";
import { ChevronDown } from "lucide-react";
import type { z } from "zod";
import { useQuery } from "@/app/(console)/_hooks/use-query.ts";
import type { listModelsContract } from "@/lib/agent/models/contract.ts";

type Models = z.output<(typeof listModelsContract.responses)[200]["schema"]>;

/** Selects the model of the next turns; an empty value means the default model. */
export function ModelSelect({
  value,
  onChoose,
}: {
  readonly value: string;
  readonly onChoose: (modelId: string) => void;
}) {
  const { data } = useQuery<Models>("/api/models");
  const chosen = value || data?.default || "";
  const models = data?.models ?? [];
  const known = models.some(({ id }) => id === chosen);
  return (
    <label className="relative flex min-w-0 items-center text-sm text-muted-foreground">
      <span className="sr-only">Model</span>
      <select
        value={chosen}
        onChange={(event) => onChoose(event.target.value)}
        className="h-8 max-w-52 min-w-0 appearance-none truncate rounded-md bg-transparent pr-6 pl-2 hover:bg-hover"
      >
        {!known && <option value={chosen}>{chosen || "Model"}</option>}
        {models.map(({ id, name }) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
      </select>
      <ChevronDown aria-hidden className="pointer-events-none absolute right-1.5 size-3.5" />
    </label>
  );
}
