/** How much something is listened to now, 0 to 100, as a small bar. */
export function Popularity({ value }: { readonly value: number }) {
  return (
    <span
      role="img"
      aria-label={`Popularity ${value} of 100`}
      title={`Popularity ${value} of 100`}
      className="flex items-center gap-2 text-xs text-muted-foreground tabular-nums"
    >
      <svg viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true" className="h-1 w-16">
        <rect width="100" height="6" rx="3" className="fill-input" />
        <rect width={Math.max(4, value)} height="6" rx="3" className="fill-muted-foreground" />
      </svg>
      {value}
    </span>
  );
}
