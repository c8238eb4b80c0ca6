"use client";
import { LayoutTemplate, Plus, Search, SearchX } from "lucide-react";
import { useState } from "react";
import { useOwnAccount } from "@/app/(console)/_hooks/shared-reads.ts";
import {
  filterTemplates,
  isMine,
  TEMPLATE_FILTERS,
  type TemplateFilter,
} from "@/app/(console)/templates/template-filters.ts";
import { useTemplates } from "@/app/(console)/templates/use-templates.ts";
import type { Template } from "@/lib/templates/template.ts";
import { Button } from "../_ui/button.tsx";
import { EmptyState } from "../_ui/empty-state.tsx";
import { ErrorState } from "../_ui/error-state.tsx";
import { Input } from "../_ui/input.tsx";
import { LoadMore } from "../_ui/load-more.tsx";
import { Page, PageHeader } from "../_ui/page-header.tsx";
import { Segmented } from "../_ui/segmented.tsx";
import { Skeleton } from "../_ui/skeleton.tsx";
import { toast } from "../_ui/toast.tsx";
import { TemplateCard } from "./template-card.tsx";
import { TemplateForm, type TemplateValues } from "./template-form.tsx";

const labels = {
  all: "All",
  mine: "Mine",
  shared: "Shared",
  favourites: "Favourites",
  public: "Public",
} as const satisfies Record<TemplateFilter, string>;

const options = TEMPLATE_FILTERS.map((value) => ({ value, label: labels[value] }));

export function TemplatesPage() {
  const templates = useTemplates();
  const account = useOwnAccount();
  // An account without sessions learns its id from the first template it creates.
  const [creator, setCreator] = useState<string | null>(null);
  const [filter, setFilter] = useState<TemplateFilter>("all");
  const [text, setText] = useState("");
  /** The template that the dialog edits; "new" for a new one. */
  const [editing, setEditing] = useState<Template | "new" | null>(null);

  /** The unsaved new template: a click outside the dialog must not discard a long prompt. */
  const [draft, setDraft] = useState<TemplateValues | null>(null);

  const own = account ?? creator;
  const { items: loaded } = templates;
  const shown = filterTemplates(loaded ?? [], { filter, text, account: own });
  const isFiltered = filter !== "all" || text.trim() !== "";

  const saved = (template: Template) => {
    setCreator(template.creator.id);
    templates.put(template);
    if (editing === "new") setDraft(null);
    setEditing(null);
    toast(editing === "new" ? "Template created" : "Template saved");
  };

  return (
    <Page>
      <PageHeader
        title="Templates"
        description="Save prompts, share them, and start chats from them."
      >
        <Button onClick={() => setEditing("new")}>
          <Plus aria-hidden />
          New template
        </Button>
      </PageHeader>

      <div className="mb-4 flex flex-wrap items-center gap-3">
        <div className="relative w-full sm:w-64">
          <Search
            aria-hidden
            className="pointer-events-none absolute top-1/2 left-3 size-4 -translate-y-1/2 text-muted-foreground"
          />
          <Input
            type="search"
            aria-label="Search templates"
            placeholder="Search templates"
            value={text}
            onChange={(event) => setText(event.target.value)}
            className="pl-9"
          />
        </div>
        <Segmented label="Show" hideLabel options={options} value={filter} onChange={setFilter} />
      </div>

      {loaded === undefined && templates.error === null && <CardSkeletons />}
      {loaded !== undefined && shown.length > 0 && (
        <ul className="grid gap-3 sm:grid-cols-2 lg:grid-cols-3">
          {shown.map((template) => (
            <li key={template.id} className="min-w-0">
              <TemplateCard
                template={template}
                isMine={isMine(template, own)}
                onEdit={() => setEditing(template)}
                onDeleted={() => templates.remove(template.id)}
                onFavourite={async (isFavourite) => {
                  const error = await templates.setFavourite(template, isFavourite);
                  if (error !== null) toast(error.message, "danger");
                }}
              />
            </li>
          ))}
        </ul>
      )}
      {loaded !== undefined && shown.length === 0 && isFiltered && (
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
      )}
      {loaded?.length === 0 && !isFiltered && (
        <EmptyState
          icon={LayoutTemplate}
          title="No templates yet"
          text="Save a prompt you use often and start chats from it with one click."
        >
          <Button onClick={() => setEditing("new")}>
            <Plus aria-hidden />
            New template
          </Button>
        </EmptyState>
      )}
      {templates.error !== null && (
        <div className="mt-4">
          <ErrorState error={templates.error} onRetry={templates.loadMore} />
        </div>
      )}
      {templates.error === null && <LoadMore pages={templates} />}

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

function CardSkeletons() {
  return (
    <div aria-busy="true" className="grid gap-3 sm:grid-cols-2 lg:grid-cols-3">
      <p className="sr-only">Loading templates…</p>
      {["a", "b", "c", "d", "e", "f"].map((key) => (
        <Skeleton key={key} className="h-46 rounded-xl" />
      ))}
    </div>
  );
}
