import StrataModel

/// A page store opened from a file, and the findings.
package struct OpenedPageStore: Sendable {
    package let store: PageStore
    /// The checkpoint of the store's newest state; nil if the file was created and the trees are empty.
    package let checkpoint: Checkpoint?
    package let finding: PageFileFinding
    /// The reasons why checkpoints could not be taken.
    package let reasons: [StrataError]

    package init(store: PageStore, checkpoint: Checkpoint?, finding: PageFileFinding, reasons: [StrataError]) {
        self.store = store
        self.checkpoint = checkpoint
        self.finding = finding
        self.reasons = reasons
    }
}
