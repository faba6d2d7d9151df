import StrataModel
import StrataSystem

/// The state of `log/tail` as a reader finds it at one moment.
enum TailStatus: Sendable {
    /// A writer lives. Its hint, and the count of news at that time.
    case live(TailHint, news: UInt32)
    /// No writer lives. The content of the page at that time.
    case alone([UInt8])
    /// The page is of no use; a writer may be at work.
    case unknown
}

/// The reader's side of `log/tail`.
final class TailReader: Sendable {
    /// A page that is just being written is invalid until a moment later, or until its writer runs again.
    private static let attempts = 100
    /// The interval at which a reader polls if no writer wakes it.
    private static let pollMilliseconds = 100
    /// The interval at which a waiting reader checks that the writer still lives.
    private static let lifeMilliseconds = 250

    private let path: String
    private let files: any FileSystem
    private let storeID: Identifier
    /// The page, and whether its writer lived: if not, the next writer may have created another file.
    private let page = Lock<(page: SharedPage?, isLive: Bool)>((nil, false))

    init(_ paths: StorePaths, _ files: any FileSystem, storeID: Identifier) {
        path = paths.tail
        self.files = files
        self.storeID = storeID
    }

    /// Must be called before the log is read: what the page announces is then in the files already.
    func outlook() -> TailStatus {
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
        // The second attempt is for a read-only medium, and for a user who may not write.
        (try? files.openSharedPage(path, .follow)) ?? (try? files.openSharedPage(path, .read))
    }

    private func outlook(of page: SharedPage) -> TailStatus {
        for _ in 0..<Self.attempts {
            // IMPORTANT: the count of news is read before the block. Read later, it might count news that the block
            // lacks, and the reader would wait for news that has already come.
            guard let news = news(of: page), let block = try? page.read(TailHint.Place.block) else { return .unknown }
            // After the bytes: a writer that closes says so in them before it releases its claim.
            guard page.isClaimed() else { return .alone(block) }
            do {
                let hint = try TailHint(decoding: block, path: path)
                guard hint.storeID == storeID, hint.bootID == BootIdentity.current else { return .unknown }
                if hint.isClosed { return .alone(block) }
                return .live(hint, news: news)
            } catch let error as StrataError where error.code != .newerFormat {
                ThreadPause.brief()
            } catch { return .unknown }
        }
        return .unknown
    }

    private func news(of page: SharedPage) -> UInt32? {
        let bytes = try? page.read(TailHint.Place.news..<TailHint.Place.news + 4)
        guard let bytes, bytes.count == 4 else { return nil }
        return bytes.withUnsafeBytes { UInt32(littleEndian: $0.loadUnaligned(as: UInt32.self)) }
    }

    /// Returns true if a writer has come since the page was found without one.
    func hasChanged(since block: [UInt8]) -> Bool {
        guard let page = page.withLock({ $0.page }) else { return true }
        return (try? page.read(TailHint.Place.block)) != block
    }

    /// Waits for news since that moment, but not for long, so that the caller looks again.
    func wait(after outlook: TailStatus, milliseconds: Int) {
        if case .live(_, let news) = outlook, let page = page.withLock({ $0.page }) {
            return page.wait(
                at: TailHint.Place.news, while: news, flag: TailHint.Place.isAwaited,
                milliseconds: min(milliseconds, Self.lifeMilliseconds))
        }
        ThreadPause.rest(microseconds: Int64(min(milliseconds, Self.pollMilliseconds)) * 1_000)
    }
}
