import { useState } from "react";
import type { Artist } from "@/lib/artists/artist.ts";
import type { createArtistContract } from "@/lib/artists/contract.ts";
import type { Answer } from "../_api/request.ts";
import { useOrganizations } from "../_hooks/shared-reads.ts";
import { useForm } from "../_hooks/use-form.ts";
import { useQuery } from "../_hooks/use-query.ts";
import { useScope } from "../_session/scope.ts";
import { SmallButton } from "../_ui/button.tsx";
import { Cover } from "../_ui/cover.tsx";
import { SelectField, TextField } from "../_ui/form.tsx";
import { FormDialog } from "../_ui/form-dialog.tsx";
import { Link2, Unlink } from "../_ui/icons.tsx";
import { ArtistLine, type CatalogSearch, searchPath } from "../catalog/lists.tsx";
import { MEDIA_TEXTS, MediaField } from "../content/media-field.tsx";

const INVALID_TEXTS = {
  name: "Enter a name of 1 to 100 characters.",
  label: "Enter a label of at most 100 characters, on one line.",
  image: MEDIA_TEXTS.image,
} as const;

interface ArtistFormProps {
  readonly artist: Artist | null;
  readonly suggested?: { readonly name: string; readonly catalogArtistId: string };
  readonly onClose: () => void;
  readonly onSaved: (artist: Artist) => void;
}

export function ArtistForm({ artist, suggested, onClose, onSaved }: ArtistFormProps) {
  const scope = useScope();
  const organizations = useOrganizations();
  const form = useForm(
    {
      name: artist?.name ?? suggested?.name ?? "",
      label: artist?.label ?? "",
      image: artist?.image ?? "",
      catalogId: artist?.catalog_artist_id ?? suggested?.catalogArtistId ?? null,
      organization: scope.organization?.id ?? "",
    },
    INVALID_TEXTS,
  );
  const onSubmit = async () => {
    const { name, label, image, catalogId, organization } = form.values;
    const body = {
      name,
      label: label.trim() || null,
      image: image.trim() || null,
      catalog_artist_id: catalogId,
      ...(artist === null && organization !== "" && { organization_id: organization }),
    };
    const result = await form.send<Answer<typeof createArtistContract>>(
      artist === null ? "/api/artists" : `/api/artists/${artist.account_id}`,
      { method: artist === null ? "POST" : "PATCH", body },
    );
    if (result.ok) onSaved(result.data.artist);
  };
  return (
    <FormDialog
      title={artist === null ? "New artist" : `Edit ${artist.name}`}
      submit={artist === null ? "Add artist" : "Save"}
      {...{ form, onSubmit, onClose }}
    >
      <TextField
        label="Name"
        maxLength={100}
        autoComplete="off"
        placeholder="Odessa Brightwater"
        {...form.field("name")}
      />
      <TextField
        label="Label (optional)"
        maxLength={100}
        autoComplete="off"
        placeholder="Lamp House Records"
        {...form.field("label")}
      />
      <MediaField
        label="Picture (optional)"
        kind="image"
        hint="Without one, a cover is drawn."
        {...form.field("image")}
      />
      {artist === null && organizations.length > 0 && (
        <SelectField
          label="Belongs to"
          hint="All members of an organization work for its artists."
          options={organizations.map((one) => ({
            value: one.organization_id,
            label: one.organization_name,
          }))}
          {...form.field("organization")}
        >
          <option value="">Only me</option>
        </SelectField>
      )}
      <CatalogLink
        name={form.values.name}
        value={form.values.catalogId}
        onChange={(catalogId) => form.set({ catalogId })}
      />
    </FormDialog>
  );
}

const MAX_RESULTS = 5;

interface CatalogLinkProps {
  readonly name: string;
  readonly value: string | null;
  readonly onChange: (id: string | null) => void;
}

/** Chooses the artist's entry in the catalog, found by the name in the form. */
function CatalogLink({ name, value, onChange }: CatalogLinkProps) {
  const [wanted, setWanted] = useState<string | null>(null);
  const search = useQuery<CatalogSearch>(wanted && searchPath(wanted, ["artist"], MAX_RESULTS));
  const found = search.data?.artists?.items ?? [];
  const find = () => {
    setWanted(name.trim());
    if (wanted === name.trim()) search.reload();
  };
  return (
    <fieldset className="rounded-lg border p-3">
      <legend className="px-1 text-sm font-medium">Catalog</legend>
      {value !== null ? (
        <div className="flex items-center gap-3">
          <Cover seed={value} round className="size-9" />
          <p className="min-w-0 flex-1 text-sm">
            Linked to the catalog
            <span className="block truncate font-mono text-xs text-muted-foreground">{value}</span>
          </p>
          <SmallButton icon={Unlink} onClick={() => onChange(null)}>
            Unlink
          </SmallButton>
        </div>
      ) : (
        <>
          <div className="flex flex-wrap items-center justify-between gap-2">
            <p className="min-w-0 flex-1 basis-56 text-sm text-muted-foreground">
              Link the artist, so that its albums and tracks are the right ones.
            </p>
            <SmallButton
              icon={Link2}
              busy={search.loading}
              disabled={name.trim() === ""}
              onClick={find}
            >
              Find by name
            </SmallButton>
          </div>
          <div role="status">
            {search.error !== null && (
              <p className="mt-2 text-sm text-danger-text">
                The catalog could not be searched. Try again.
              </p>
            )}
            {search.data !== undefined && found.length === 0 && (
              <p className="mt-2 text-sm text-muted-foreground">
                The catalog has no artist of this name.
              </p>
            )}
          </div>
          {found.length > 0 && (
            <ul className="mt-3 space-y-1">
              {found.map((artist) => (
                <li key={artist.id}>
                  <button
                    type="button"
                    aria-label={`Link to ${artist.name}`}
                    onClick={() => onChange(artist.id)}
                    className="flex w-full items-center gap-3 rounded-md px-2 py-1.5 text-left hover:bg-hover"
                  >
                    <ArtistLine artist={artist} />
                  </button>
                </li>
              ))}
            </ul>
          )}
        </>
      )}
    </fieldset>
  );
}
