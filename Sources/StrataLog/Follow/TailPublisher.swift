import StrataModel
import StrataSystem

/// The writer's side of `log/tail`: tells readers of other processes how far the log reaches, and wakes those who wait
/// for more.
///
/// Nobody depends on it: where the page cannot be made, readers find their commits without.
final class TailPublisher: Sendable {
    private let page: SharedPage
    private let hint: Lock<TailHint>

    /// - Returns: nil where there can be no such page.
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
        // IMPORTANT: claimed before it says anything new, and both before anything is appended: a reader that found
        // nobody here sees the page change before it can meet a frame that may still be taken back.
        // Whoever has the claim is no writer, since the store is locked: what he holds serves this one too.
        _ = page.claim()
        page.store(hint.encoded(), at: 0)
        announce()
    }

    /// Called in the order of what it tells.
    /// - Returns: whether there is something to announce.
    func update(durableEnd: Position, end: Position, isClosed: Bool) -> Bool {
        hint.withLock { hint in
            // Closed, the page may be another writer's already.
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
