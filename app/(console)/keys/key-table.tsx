"use client";
import { useState } from "react";
import { remove } from "../_api/request.ts";
import type { CreatedKey, ListedKey } from "../_hooks/shared-reads.ts";
import { Badge } from "../_ui/badge.tsx";
import { Button } from "../_ui/button.tsx";
import { ConfirmDialog } from "../_ui/dialog.tsx";
import { formatDate, formatDateTime } from "../_ui/format.ts";
import { Cell, HeadCell, Table } from "../_ui/table.tsx";
import { toast } from "../_ui/toast.tsx";
import { RotateKey } from "./key-dialogs.tsx";

interface KeyTableProps {
  readonly keys: readonly ListedKey[];
  readonly onRotated: (key: CreatedKey) => void;
  readonly onRevoked: () => void;
}

export function KeyTable({ keys, onRotated, onRevoked }: KeyTableProps) {
  const [rotating, setRotating] = useState<ListedKey | null>(null);
  return (
    <>
      <Table label="API keys">
        <thead>
          <tr>
            <HeadCell>Name</HeadCell>
            <HeadCell className="max-sm:hidden">Created</HeadCell>
            <HeadCell className="max-sm:hidden">Last used</HeadCell>
            <HeadCell className="max-sm:hidden">Expires</HeadCell>
            <HeadCell>
              <span className="sr-only">Actions</span>
            </HeadCell>
          </tr>
        </thead>
        <tbody>
          {keys.map((key) => (
            <tr key={key.id}>
              <Cell className="sm:min-w-44">
                <span className="block font-medium wrap-anywhere">{key.key_name}</span>
                <code className="font-mono text-xs text-muted-foreground">{key.prefix}…</code>
                <span className="block text-xs text-muted-foreground sm:hidden">
                  Last used: <LastUse at={key.last_used_at} />
                  <br />
                  Expires: <Expiry at={key.expires_at} />
                </span>
              </Cell>
              <Cell className="whitespace-nowrap text-muted-foreground max-sm:hidden">
                <time dateTime={key.created_at}>{formatDate(key.created_at)}</time>
              </Cell>
              <Cell className="whitespace-nowrap text-muted-foreground max-sm:hidden">
                <LastUse at={key.last_used_at} />
              </Cell>
              <Cell className="whitespace-nowrap text-muted-foreground max-sm:hidden">
                <Expiry at={key.expires_at} />
              </Cell>
              <Cell className="w-px whitespace-nowrap">
                <div className="flex justify-end gap-1 max-sm:flex-col max-sm:items-end">
                  <Button
                    variant="ghost"
                    size="sm"
                    aria-label={`Rotate ${key.key_name}`}
                    onClick={() => setRotating(key)}
                  >
                    Rotate
                  </Button>
                  <ConfirmDialog
                    title={`Revoke “${key.key_name}”?`}
                    description="Programs that use this key will lose access immediately. This cannot be undone."
                    confirm="Revoke"
                    onConfirm={() => remove(`/api/keys/${key.id}`)}
                    onDone={() => {
                      toast(`“${key.key_name}” revoked`);
                      onRevoked();
                    }}
                    trigger={
                      <Button
                        variant="danger-ghost"
                        size="sm"
                        className="text-muted-foreground hover:text-danger-text"
                        aria-label={`Revoke ${key.key_name}`}
                      >
                        Revoke
                      </Button>
                    }
                  />
                </div>
              </Cell>
            </tr>
          ))}
        </tbody>
      </Table>
      {rotating !== null && (
        <RotateKey known={rotating} onRotated={onRotated} onClose={() => setRotating(null)} />
      )}
    </>
  );
}

function LastUse({ at }: { readonly at: string | null }) {
  return at === null ? "Never" : <time dateTime={at}>{formatDateTime(at)}</time>;
}

function Expiry({ at }: { readonly at: string | null }) {
  if (at === null) return "Never";
  if (Date.parse(at) <= Date.now()) return <Badge tone="danger">Expired</Badge>;
  return <time dateTime={at}>{formatDateTime(at)}</time>;
}
