import { Button } from "./button.tsx";

/** Below a list that is loaded whole and shown in part. */
export function ShowMore({ onClick }: { readonly onClick: () => void }) {
  return (
    <div className="mt-4 text-center">
      <Button variant="outline" size="sm" onClick={onClick}>
        Show more
      </Button>
    </div>
  );
}
