"use client";
import type { Artist } from "@/lib/artists/artist.ts";
import type { createArtistContract } from "@/lib/artists/contract.ts";
import type { Answer } from "../_api/request.ts";
import { useOrganizations } from "../_hooks/shared-reads.ts";
import { useForm } from "../_hooks/use-form.ts";
import { useScope } from "../_session/scope.ts";
import { SelectField, TextField } from "../_ui/form.tsx";
import { FormDialog } from "../_ui/form-dialog.tsx";
import { MEDIA_TEXTS, MediaField } from "../content/media-field.tsx";
import { CatalogLink } from "./catalog-link.tsx";

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

/** A dialog to add or change an artist. */
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
  const submit = async () => {
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
      form={form}
      onSubmit={submit}
      onClose={onClose}
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
        isInvalid={form.field("image").error !== undefined}
        value={form.values.image}
        onChange={(image) => form.set({ image })}
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
