import { Start } from "./_shell/start.tsx";

export default function StartPage() {
  return <Start />;
}
