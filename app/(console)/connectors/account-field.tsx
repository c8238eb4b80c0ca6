"use client";
import { useOrganizations } from "@/app/(console)/_hooks/shared-reads.ts";
import { useScope } from "@/app/(console)/_session/scope.ts";
import { Field } from "../_ui/field.tsx";
import { Select } from "../_ui/select.tsx";

/** Chooses whose connections are shown: the person's, the chosen artist's, or an organization's. */
export function AccountField({
  value,
  onChange,
}: {
  /** Null for the person's own account. */
  readonly value: string | null;
  readonly onChange: (accountId: string | null) => void;
}) {
  const { artist } = useScope();
  const organizations = useOrganizations();
  if (artist === null && organizations.length === 0 && value === null) return null;
  const listed = [artist?.id, ...organizations.map((one) => one.organization_id)];
  return (
    <Field label="Connections of" className="w-full sm:w-64">
      {(ids) => (
        <Select
          {...ids}
          value={value ?? ""}
          onChange={(event) => onChange(event.target.value || null)}
        >
          <option value="">My account</option>
          {artist !== null && <option value={artist.id}>{artist.name}</option>}
          {organizations.map((one) => (
            <option key={one.organization_id} value={one.organization_id}>
              {one.organization_name}
            </option>
          ))}
          {value !== null && !listed.includes(value) && (
            <option value={value}>Other account</option>
          )}
        </Select>
      )}
    </Field>
  );
}
