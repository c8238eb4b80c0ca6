import { Hourglass } from "lucide-react";
import { EmptyState } from "../_ui/states.tsx";

export function TooManyVisits() {
  return (
    <div className="mx-auto max-w-lg px-4 py-16">
      <EmptyState
        icon={Hourglass}
        title="Too many visits"
        text="Your network has opened many shared chats in a short time. Wait a minute, then load this page again."
      />
    </div>
  );
}
