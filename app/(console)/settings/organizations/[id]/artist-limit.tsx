import { useState } from "react";
import type { Artist } from "@/lib/artists/artist.ts";
import { usePages } from "../../../_hooks/use-pages.ts";
import { SmallButton } from "../../../_ui/button.tsx";
import { Switch } from "../../../_ui/form.tsx";
import { FormDialog } from "../../../_ui/form-dialog.tsx";
import { PagedList } from "../../../_ui/states.tsx";

type Limit = readonly string[] | null;

export const countOf = (limit: Limit): string =>
  limit === null ? "All artists" : `${limit.length} artist${limit.length === 1 ? "" : "s"}`;

/** A button with the number of artists to which someone is limited, which opens the choice of them. */
export function ArtistLimit({
  organizationId,
  person,
  value,
  onChange,
}: {
  readonly organizationId: string;
  readonly person: string;
  /** Ids of artists; null for all. */
  readonly value: Limit;
  readonly onChange: (value: Limit) => void;
}) {
  const [draft, setDraft] = useState<Limit | undefined>();
  const isOpen = draft !== undefined;
  const artists = usePages<Artist>(
    isOpen ? `/api/artists?org_id=${organizationId}` : null,
    "artists",
  );
  const text = countOf(value);
  return (
    <>
      <SmallButton aria-label={`Artists of ${person}: ${text}`} onClick={() => setDraft(value)}>
        {text}
      </SmallButton>
      {isOpen && (
        <FormDialog
          title="Artists"
          description={`${person} works for these artists only, and not for the organization itself.`}
          submit="Apply"
          onSubmit={() => {
            onChange(draft);
            setDraft(undefined);
          }}
          onClose={() => setDraft(undefined)}
        >
          <Switch
            label="All artists"
            checked={draft === null}
            onChange={(isAll) => setDraft(isAll ? null : [])}
          />
          {draft !== null && (
            <PagedList
              label="Artists"
              pages={artists}
              loadingRows={3}
              more="artists"
              empty={<p className="text-sm text-muted-foreground">No artists yet.</p>}
              keyOf={({ account_id }) => account_id}
            >
              {({ account_id: id, name }) => (
                <div className="px-4 py-2.5">
                  <Switch
                    label={name}
                    checked={draft.includes(id)}
                    onChange={(isChosen) =>
                      setDraft(isChosen ? [...draft, id] : draft.filter((one) => one !== id))
                    }
                  />
                </div>
              )}
            </PagedList>
          )}
        </FormDialog>
      )}
    </>
  );
}
