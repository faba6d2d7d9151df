import StrataModel
import StrataSystem

/// What a reader makes of `log/tail` at one moment.
enum TailOutlook: Sendable {
    /// A writer lives. What it tells, and how much news there was by then.
    case live(TailHint, news: UInt32)
    /// Nobody writes, and this is what the page held then.
    case alone([UInt8])
    /// There is nothing to go by; somebody may be writing.
    case unknown
}

/// The reader's side of `log/tail`.
final class TailReader: Sendable {
    /// A page that is being written to is not valid; it is a moment later, or once its writer has the processor again.
    private static let attempts = 100
    /// How often somebody looks whom nobody wakes.
    private static let pollMilliseconds = 100
    /// How often somebody who waits for a writer looks whether it is still there.
    private static let lifeMilliseconds = 250

    private let path: String
    private let files: any FileSystem
    private let storeID: Identifier
    /// The page, and whether its writer lived: if not, the next one may have made another file.
    private let page = Lock<(page: SharedPage?, isLive: Bool)>((nil, false))

    init(_ paths: StorePaths, _ files: any FileSystem, storeID: Identifier) {
        path = paths.tail
        self.files = files
        self.storeID = storeID
    }

    /// Asked before the log is read: what the page tells then is in the files already.
    func outlook() -> TailOutlook {
        page.withLock { state in
            if !state.isLive { state.page = open() }
            state.isLive = false
            guard let page = state.page else { return .unknown }
            let outlook = outlook(of: page)
            if case .live = outlook { state.isLive = true }
            return outlook
        }
    }

    private func open() -> SharedPage? {
        // On a medium that cannot be written, or where this user may not.
        (try? files.openSharedPage(path, .follow)) ?? (try? files.openSharedPage(path, .read))
    }

    private func outlook(of page: SharedPage) -> TailOutlook {
        for _ in 0..<Self.attempts {
            // IMPORTANT: the count of news in front of the block: one that is counted after that is waited for in vain.
            guard let news = news(of: page), let block = try? page.read(TailHint.Place.block) else { return .unknown }
            // Behind the bytes: a writer that closed has said so in them before it went.
            guard page.isClaimed() else { return .alone(block) }
            do {
                let hint = try TailHint(decoding: block, path: path)
                guard hint.storeID == storeID, hint.bootID == BootIdentity.current else { return .unknown }
                if hint.isClosed { return .alone(block) }
                return .live(hint, news: news)
            } catch let error as StrataError where error.code != .newerFormat {
                ThreadStripe.pause()
            } catch { return .unknown }
        }
        return .unknown
    }

    private func news(of page: SharedPage) -> UInt32? {
        let bytes = try? page.read(TailHint.Place.news..<TailHint.Place.news + 4)
        guard let bytes, bytes.count == 4 else { return nil }
        return bytes.withUnsafeBytes { UInt32(littleEndian: $0.loadUnaligned(as: UInt32.self)) }
    }

    /// Whether a writer has come since the page was found to be nobody's.
    func hasChanged(since block: [UInt8]) -> Bool {
        guard let page = page.withLock({ $0.page }) else { return true }
        return (try? page.read(TailHint.Place.block)) != block
    }

    /// Waits for more than there was at that moment; not for long, so that whoever calls it looks again.
    func wait(behind outlook: TailOutlook, milliseconds: Int) {
        if case .live(_, let news) = outlook, let page = page.withLock({ $0.page }) {
            return page.wait(
                at: TailHint.Place.news, while: news, flag: TailHint.Place.isAwaited,
                milliseconds: min(milliseconds, Self.lifeMilliseconds))
        }
        ThreadStripe.rest(microseconds: Int64(min(milliseconds, Self.pollMilliseconds)) * 1_000)
    }
}
