"use client";
import { X } from "lucide-react";
import type { Artist } from "@/lib/artists/artist.ts";
import { Button } from "../_ui/button.tsx";
import { Select } from "../_ui/form.tsx";
import { Segmented } from "../_ui/segmented.tsx";
import {
  KIND_OPTIONS,
  type RunFilters,
  SINCE_OPTIONS,
  STATUS_OPTIONS,
} from "./_state/run-filters.ts";

export function RunFilterBar({
  filters,
  artists,
  onChange,
}: {
  readonly filters: RunFilters;
  readonly artists: readonly Artist[];
  readonly onChange: (next: Partial<RunFilters>) => void;
}) {
  return (
    <div className="mb-4 flex flex-wrap items-center gap-2">
      <Segmented
        label="Status"
        hideLabel
        options={STATUS_OPTIONS}
        value={STATUS_OPTIONS.find(({ value }) => value === filters.status)?.value ?? ""}
        onChange={(status) => onChange({ status })}
      />
      <Filter
        label="Kind"
        all="All kinds"
        options={KIND_OPTIONS}
        value={filters.kind}
        onChange={(kind) => onChange({ kind })}
      />
      {(artists.length > 0 || filters.artist !== "") && (
        <Filter
          label="Artist"
          all="All artists"
          options={artists.map(({ account_id, name }) => ({ value: account_id, label: name }))}
          value={filters.artist}
          onChange={(artist) => onChange({ artist })}
        />
      )}
      <Filter
        label="Time"
        all="Any time"
        options={SINCE_OPTIONS}
        value={filters.since}
        onChange={(since) => onChange({ since })}
      />
      {filters.chat !== "" && (
        <Button variant="outline" size="sm" onClick={() => onChange({ chat: "" })}>
          This chat only
          <X aria-label="Show all chats" />
        </Button>
      )}
    </div>
  );
}

function Filter({
  label,
  all,
  options,
  ...rest
}: {
  readonly label: string;
  readonly all: string;
  readonly options: readonly { readonly value: string; readonly label: string }[];
  readonly value: string;
  readonly onChange: (value: string) => void;
}) {
  return (
    <Select
      aria-label={label}
      className="w-38 max-sm:min-w-0 max-sm:flex-1 max-sm:basis-[40%]"
      {...rest}
      options={[{ value: "", label: all }, ...options]}
    />
  );
}
