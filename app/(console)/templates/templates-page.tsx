"use client";
import { useState } from "react";
import type { Template } from "@/lib/templates/template.ts";
import { useOwnAccount } from "../_hooks/shared-reads.ts";
import { usePages } from "../_hooks/use-pages.ts";
import { Button } from "../_ui/button.tsx";
import { SearchInput, Segmented } from "../_ui/form.tsx";
import { LayoutTemplate, Plus, SearchX } from "../_ui/icons.tsx";
import { Page } from "../_ui/page-header.tsx";
import { EmptyState, PagedList } from "../_ui/states.tsx";
import { toast } from "../_ui/toast.tsx";
import { TemplateCard } from "./template-card.tsx";
import { TemplateForm, type TemplateValues } from "./template-form.tsx";

interface Filter {
  readonly value: string;
  readonly label: string;
  readonly has: (template: Template, isMine: boolean) => boolean;
}

const FILTERS: readonly Filter[] = [
  { value: "all", label: "All", has: () => true },
  { value: "mine", label: "Mine", has: (_, isOwn) => isOwn },
  { value: "shared", label: "Shared", has: ({ is_private }, isOwn) => is_private && !isOwn },
  { value: "favourites", label: "Favourites", has: ({ is_favourite }) => is_favourite },
  { value: "public", label: "Public", has: ({ is_private }) => !is_private },
];

export function TemplatesPage() {
  const templates = usePages<Template>("/api/agents/templates?limit=48", "templates");
  const own = useOwnAccount();
  const [filter, setFilter] = useState("all");
  const [text, setText] = useState("");
  /** The template that the dialog edits; "new" for a new one. */
  const [editing, setEditing] = useState<Template | "new" | null>(null);

  /** The unsaved new template: a click outside the dialog must not discard a long prompt. */
  const [draft, setDraft] = useState<TemplateValues | null>(null);

  const { has } = FILTERS.find(({ value }) => value === filter) ?? {};
  const shown = templates.items?.filter(
    (template) => has?.(template, isMine(template, own)) && hasWords(template, text),
  );
  const isFiltered = filter !== "all" || text.trim() !== "";

  const saved = () => {
    void templates.refresh();
    if (editing === "new") setDraft(null);
    setEditing(null);
    toast(editing === "new" ? "Template created" : "Template saved");
  };
  const create = (
    <Button icon={Plus} onClick={() => setEditing("new")}>
      New template
    </Button>
  );
  return (
    <Page
      title="Templates"
      description="Save prompts, share them, and start chats from them."
      actions={create}
    >
      <div className="mb-4 flex flex-wrap items-center gap-3">
        <SearchInput
          label="Search templates"
          placeholder="Search templates"
          className="sm:w-64"
          value={text}
          onChange={setText}
        />
        <Segmented label="Show" hideLabel options={FILTERS} value={filter} onChange={setFilter} />
      </div>
      <PagedList
        label="Templates"
        pages={{ ...templates, items: shown }}
        loadingRows={6}
        cards={{
          grid: "grid gap-3 sm:grid-cols-2 lg:grid-cols-3",
          placeholder: "h-46 rounded-xl",
        }}
        keyOf={({ id }) => id}
        empty={
          isFiltered ? (
            <EmptyState
              icon={SearchX}
              title="No matching templates"
              text={
                templates.hasMore
                  ? "Only the loaded templates were searched. Load more, or change your search."
                  : "Change your search, or show all templates."
              }
            >
              <Button
                variant="outline"
                onClick={() => {
                  setFilter("all");
                  setText("");
                }}
              >
                Show all
              </Button>
            </EmptyState>
          ) : (
            <EmptyState
              icon={LayoutTemplate}
              title="No templates yet"
              text="Save a prompt you use often and start chats from it with one click."
            >
              {create}
            </EmptyState>
          )
        }
      >
        {(template) => (
          <TemplateCard
            template={template}
            isMine={isMine(template, own)}
            onEdit={() => setEditing(template)}
            onChanged={templates.refresh}
          />
        )}
      </PagedList>
      {editing !== null && (
        <TemplateForm
          template={editing === "new" ? null : editing}
          draft={draft}
          onClose={(values) => {
            if (editing === "new") setDraft(values);
            setEditing(null);
          }}
          onSaved={saved}
        />
      )}
    </Page>
  );
}

/** @param account the caller's account id; null while it is unknown */
const isMine = (template: Template, account: string | null): boolean =>
  // The API shows only to the owner with whom a template is shared.
  template.creator.id === account || template.shared_emails.length > 0;

function hasWords({ title, description, prompt, tags, creator }: Template, search: string) {
  const text = [title, description, prompt, creator.name, ...tags].join("\n").toLowerCase();
  return search
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}
