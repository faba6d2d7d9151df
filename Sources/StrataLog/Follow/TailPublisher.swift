import StrataModel
import StrataSystem

/// The writer's side of `log/tail`: announces to readers in other processes how far the log reaches, and wakes those
/// that wait for more.
///
/// Nothing depends on it: where the page cannot be created, readers find their commits without it.
final class TailPublisher: Sendable {
    private let page: SharedPage
    private let hint: Lock<TailHint>

    /// Creates the page and claims it; returns nil where such a page is impossible.
    static func make(
        _ paths: StorePaths, _ platform: Platform, storeID: Identifier, end: Position
    ) -> TailPublisher? {
        guard let bootID = BootIdentity.current,
            let page = try? platform.files.openSharedPage(paths.tail, .own)
        else { return nil }
        let hint = TailHint(
            storeID: storeID, durableEnd: end, end: end, bootID: bootID,
            processIdentifier: ProcessIdentity.current.identifier, opened: platform.time.nowMicroseconds())
        return TailPublisher(page, hint)
    }

    private init(_ page: SharedPage, _ hint: TailHint) {
        self.page = page
        self.hint = Lock(hint)
        // IMPORTANT: the page is claimed before it announces anything new, and both happen before anything is appended:
        // a reader that found no writer sees the page change before it can read a frame that may still be undone.
        // Any other holder of the claim is not a writer, because the store is locked; its claim serves this writer too.
        _ = page.claim()
        page.store(hint.encoded(), at: 0)
        announce()
    }

    /// Called in the order of the announced ends. Returns true if there is something to announce.
    func update(durableEnd: Position, end: Position, isClosed: Bool) -> Bool {
        hint.withLock { hint in
            // After closing, the page may already belong to another writer.
            guard !hint.isClosed, hint.durableEnd != durableEnd || hint.end != end || isClosed else { return false }
            hint.durableEnd = durableEnd
            hint.end = end
            hint.isClosed = isClosed
            page.store(hint.encoded(), at: 0)
            if isClosed { page.unclaim() }
            return true
        }
    }

    func announce() { page.announce(at: TailHint.Place.news, wakingIfSet: TailHint.Place.isAwaited) }
}
