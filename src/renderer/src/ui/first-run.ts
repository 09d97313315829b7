const SKIPPED = 'metaclaw.setup.skipped';

/** Remembers that the wizard was left, so that it does not come back by itself; a card on Overview leads to it. */
export function skipSetup(): void {
  localStorage.setItem(SKIPPED, 'yes');
}

export function setupWasSkipped(): boolean {
  return localStorage.getItem(SKIPPED) !== null;
}
