"use client";
import { useQuery } from "@tanstack/react-query";
import { Mail } from "lucide-react";
import Link from "next/link";
import { useEffect } from "react";
import type { listInvitationsContract } from "@/lib/organizations/contract.ts";
import { type Answer, read } from "../_api/request.ts";
import { keyOf } from "../_hooks/use-query.ts";
import { readList, writeList } from "../chat/_state/drafts.ts";

type Invitations = Answer<typeof listInvitationsContract>;
type Stored = Readonly<{ at: number; data: Invitations }>;

const PATH = "/api/invitations?limit=100";
const MAX_AGE_MS = 600_000;
const storageKey = (email: string): string => `invitations ${email}`;

/** Leads to the open invitations, which are read every ten minutes at most. */
export function InvitationNotice({ email }: { readonly email: string }) {
  const stored = () => readList<Stored>("localStorage", () => storageKey(email))[0];
  const { data, dataUpdatedAt } = useQuery({
    queryKey: keyOf(PATH),
    queryFn: ({ signal }) => read<Invitations>(PATH, signal),
    staleTime: MAX_AGE_MS,
    initialData: () => stored()?.data,
    initialDataUpdatedAt: () => stored()?.at,
  });
  useEffect(() => {
    if (data) writeList("localStorage", () => storageKey(email), [{ at: dataUpdatedAt, data }]);
  }, [data, dataUpdatedAt, email]);
  const count = data?.invitations.length ?? 0;
  if (count === 0) return null;
  return (
    <Link
      href="/invitations"
      prefetch={false}
      className="mb-1 flex h-8 items-center gap-2.5 rounded-md bg-accent-soft px-2 font-medium text-accent-text"
    >
      <Mail aria-hidden className="size-4" />
      {count === 1 ? "1 invitation" : `${count} invitations`}
    </Link>
  );
}
