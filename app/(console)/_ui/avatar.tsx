/** A person by the first letter of the name or email. It is decorative, because the name stands beside it. */
export function Avatar({ name }: { readonly name: string }) {
  return (
    <span
      aria-hidden
      className="grid size-8 shrink-0 place-items-center rounded-full bg-muted text-sm font-medium text-muted-foreground uppercase select-none"
    >
      {[...name.trim()][0]}
    </span>
  );
}
