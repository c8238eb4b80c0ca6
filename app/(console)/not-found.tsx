import { Disc3 } from "./_ui/icons.tsx";
import { Missing } from "./_ui/states.tsx";

export const metadata = { title: "Not found" };

export default function NotFound() {
  return (
    <div className="mx-auto max-w-lg px-4 py-24">
      <Missing
        icon={Disc3}
        title="Page not found"
        text="The address may be wrong, or the page may have been removed."
        href="/"
        link="Go to home"
      />
    </div>
  );
}
