"use client";
import { type FormEvent, useState } from "react";
import type { z } from "zod";
import { useFocusFirstError } from "@/app/(console)/_hooks/use-focus-first-error.ts";
import { useSubmit } from "@/app/(console)/_hooks/use-submit.ts";
import { useScope } from "@/app/(console)/_session/scope.ts";
import type { Artist } from "@/lib/artists/artist.ts";
import type { createArtistContract } from "@/lib/artists/contract.ts";
import { Button } from "../_ui/button.tsx";
import { Dialog, DialogActions, DialogClose } from "../_ui/dialog.tsx";
import { ErrorState } from "../_ui/error-state.tsx";
import { Field } from "../_ui/field.tsx";
import { Input } from "../_ui/input.tsx";
import { Select } from "../_ui/select.tsx";
import { CatalogLink } from "./catalog-link.tsx";
import { useOrganizationNames } from "./use-organization-names.ts";

type Saved = z.output<(typeof createArtistContract)["responses"][201]["schema"]>;

const INVALID_TEXTS = {
  name: "Enter a name of 1 to 100 characters.",
  label: "Enter a label of at most 100 characters, on one line.",
  image: "Enter an address that begins with https://.",
} as const;

/** A dialog to add or change an artist. */
export function ArtistForm({
  artist,
  suggested,
  onClose,
  onSaved,
}: {
  /** Null for a new artist. */
  readonly artist: Artist | null;
  /** What a new artist starts with. */
  readonly suggested?: { readonly name: string; readonly catalogArtistId: string };
  readonly onClose: () => void;
  readonly onSaved: (artist: Artist) => void;
}) {
  const scope = useScope();
  const organizations = useOrganizationNames();
  const [name, setName] = useState(artist?.name ?? suggested?.name ?? "");
  const [label, setLabel] = useState(artist?.label ?? "");
  const [image, setImage] = useState(artist?.image ?? "");
  const [catalogId, setCatalogId] = useState(
    artist?.catalog_artist_id ?? suggested?.catalogArtistId ?? null,
  );
  const [organization, setOrganization] = useState(scope.organization?.id ?? "");
  const { send, busy, error } = useSubmit<Saved>();
  const form = useFocusFirstError(error);
  const errorOf = (field: keyof typeof INVALID_TEXTS) =>
    error?.fields.includes(field) ? INVALID_TEXTS[field] : undefined;
  const isOfField = error?.fields.some((field) => field in INVALID_TEXTS) ?? false;

  const submit = async (event: FormEvent) => {
    event.preventDefault();
    const values = {
      name,
      label: label.trim() || null,
      image: image.trim() || null,
      catalog_artist_id: catalogId,
    };
    const result =
      artist === null
        ? await send("/api/artists", {
            body: { ...values, ...(organization === "" ? {} : { organization_id: organization }) },
          })
        : await send(`/api/artists/${artist.account_id}`, { method: "PATCH", body: values });
    if (result.ok) onSaved(result.data.artist);
  };

  return (
    <Dialog
      open
      onOpenChange={(open) => !open && onClose()}
      title={artist === null ? "New artist" : `Edit ${artist.name}`}
    >
      <form
        ref={form}
        noValidate
        onSubmit={(event) => void submit(event)}
        className="flex flex-col gap-4"
      >
        {error !== null && !isOfField && <ErrorState error={error} />}
        <Field label="Name" error={errorOf("name")}>
          {(ids) => (
            <Input
              {...ids}
              maxLength={100}
              autoComplete="off"
              placeholder="Odessa Brightwater"
              value={name}
              onChange={(event) => setName(event.target.value)}
            />
          )}
        </Field>
        <Field label="Label (optional)" error={errorOf("label")}>
          {(ids) => (
            <Input
              {...ids}
              maxLength={100}
              autoComplete="off"
              placeholder="Lamp House Records"
              value={label}
              onChange={(event) => setLabel(event.target.value)}
            />
          )}
        </Field>
        <Field
          label="Image address (optional)"
          hint="An image of yours from Content. Without one, a cover is drawn."
          error={errorOf("image")}
        >
          {(ids) => (
            <Input
              {...ids}
              type="url"
              maxLength={2048}
              autoComplete="off"
              placeholder="https://"
              value={image}
              onChange={(event) => setImage(event.target.value)}
            />
          )}
        </Field>
        {artist === null && organizations.size > 0 && (
          <Field label="Belongs to" hint="All members of an organization work for its artists.">
            {(ids) => (
              <Select
                {...ids}
                value={organization}
                onChange={(event) => setOrganization(event.target.value)}
              >
                <option value="">Only me</option>
                {[...organizations].map(([id, title]) => (
                  <option key={id} value={id}>
                    {title}
                  </option>
                ))}
              </Select>
            )}
          </Field>
        )}
        <CatalogLink name={name} value={catalogId} onChange={setCatalogId} />
        <DialogActions>
          <DialogClose asChild>
            <Button variant="outline">Cancel</Button>
          </DialogClose>
          <Button type="submit" busy={busy}>
            {artist === null ? "Add artist" : "Save"}
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  );
}
