import StrataLog
import StrataModel
import StrataSystem

/// A sequencer in a directory that all processes reach: a file for each entry, named by its number, and linked into
/// place without overwriting.
///
/// ```swift
/// let sequencer = try DirectorySequencer(at: "/shared/Notes.sequence")
/// let log = try ReplicatedLog.open(at: "Notes.strata", sequencer: sequencer)
/// ```
/// The file system must have hard links, and show a file to every process once it is linked. An entry is synced before
/// it is acknowledged or given to anyone.
package final class DirectorySequencer: Sequencer {
    private struct State {
        /// The number of an entry that exists; all entries from the floor up to it exist too.
        var known: UInt64
        /// The entries up to here have durable names.
        var durable: UInt64 = 0
        /// The folder whose name was synced last.
        var durableFolder: String?
        var isClosed = false
    }

    package let maximumEntryBytes: Int
    private let path: String
    private let platform: Platform
    private let state: Monitor<State>

    private var files: any FileSystem { platform.files }
    private var drafts: String { path + "/drafts" }
    private var floorPath: String { path + "/FLOOR" }

    /// Entries are in folders of this many.
    private static let folderEntries: UInt64 = 4_096
    /// The digits of the name of an entry, or of a folder.
    private static let digits = 20
    /// The age from which a draft no longer belongs to a writer.
    private static let draftSeconds = 86_400
    private static let pageBytes = 16 << 20
    /// The length up to which entries are read, whatever their writers' limit was.
    private static let readableBytes = 80 << 20
    private static let firstPauseMilliseconds = 1
    private static let longestPauseMilliseconds = 32

    /// Opens the directory.
    ///
    /// - Parameter creates: true to make it if it is missing or empty.
    /// - Throws: `.notFound` if it is missing or empty and is not made; `.alreadyExists` if it has other files.
    package init(
        at path: String, maximumEntryBytes: Int = 8 << 20, creates: Bool = true, platform: Platform = Platform()
    ) throws {
        self.path = path
        self.maximumEntryBytes = maximumEntryBytes
        self.platform = platform
        state = Monitor(State(known: 0))
        try prepare(creates: creates)
        let floor = try floor()
        state.withLock { ($0.known, $0.durable) = (floor, floor) }
    }

    /// The names that a process may have made in a directory without entries.
    private static let ownNames: Set<String> = ["drafts", "files", "FLOOR", "LOCK"]

    private func prepare(creates: Bool) throws {
        if try !files.exists(drafts) { try make(creates: creates) }
        // Another process may have made the directory without syncing its name.
        do { try files.syncDirectory(StorePaths(path).parent) } catch let error as StrataError
            where error.code == .permissionDenied
        {}
    }

    private func make(creates: Bool) throws {
        guard creates else {
            throw StrataError(
                .notFound, "This is not the directory of a sequencer; 'strata create' makes one.",
                .init(path: path, expected: "the folder 'drafts'"))
        }
        try files.makeDirectory(path)
        let foreign = try files.list(path).filter { !Self.ownNames.contains($0) }.min()
        // Another process may have made it in the meantime and begun to write.
        if let foreign, try !files.exists(drafts) {
            throw StrataError(
                .alreadyExists, "The directory has other files, so no sequencer can be made there.",
                .init(path: path, expected: "an empty directory", found: foreign))
        }
        try files.makeDirectory(drafts)
        try files.syncDirectory(path)
    }

    private func folder(of number: UInt64) -> String { path + "/" + paddedDecimal(number / Self.folderEntries) }
    private func path(of number: UInt64) -> String { folder(of: number) + "/" + paddedDecimal(number) }

    private func exists(_ number: UInt64) throws -> Bool { try files.exists(path(of: number)) }

    // MARK: Appending

    package func append(_ entry: [UInt8], id: Identifier, expecting: UInt64) -> SequencerAnswer {
        guard entry.count <= maximumEntryBytes else {
            return .refused(
                StrataError(
                    .tooLarge, "The entry is longer than the sequencer allows.",
                    .init(path: path, expected: "at most \(maximumEntryBytes) bytes", found: "\(entry.count)")))
        }
        let number = expecting + 1
        let draft = drafts + "/\(id)-\(platform.random.nextIdentifier())"
        do {
            guard try expecting == floor() || exists(expecting) else { return .taken }
            if try exists(number) {
                note(number)
                return .taken
            }
            try makeDurable(through: expecting)
            try files.makeDirectory(folder(of: number))
            let file = try files.open(draft, .create)
            defer { file.close() }
            try file.write(entry, at: 0)
            try file.sync()
        } catch {
            try? files.remove(draft)
            return .refused(Self.described(error))
        }
        defer { try? files.remove(draft) }
        do {
            try files.hardLink(draft, to: path(of: number))
            try syncNames(of: number)
            // If a trim has gone past the number, others had entries there.
            guard try floor() < number else {
                try files.remove(path(of: number))
                return .taken
            }
        } catch let error as StrataError where error.code == .alreadyExists {
            note(number)
            return .taken
        } catch {
            return .unknown(Self.described(error))
        }
        state.withLock { ($0.known, $0.durable) = (max($0.known, number), max($0.durable, number)) }
        state.notifyAll()
        return .accepted(number)
    }

    /// Notes that an entry is there, and wakes the threads that wait for it.
    private func note(_ number: UInt64) {
        let isNews = state.withLock { state in
            defer { state.known = max(state.known, number) }
            return state.known < number
        }
        if isNews { state.notifyAll() }
    }

    /// Syncs the name of an entry, and that of its folder, which another process may have made and not synced.
    private func syncNames(of number: UInt64) throws {
        let folder = folder(of: number)
        if state.withLock({ $0.durableFolder }) != folder {
            try files.syncDirectory(path)
            state.withLock { $0.durableFolder = folder }
        }
        try files.syncDirectory(folder)
    }

    private static func described(_ error: any Error) -> StrataError {
        error as? StrataError ?? StrataError(.inputOutput, "The sequencer's directory cannot be used.", cause: error)
    }

    // MARK: Reading

    package func entries(after number: UInt64, waitingMilliseconds milliseconds: Int) throws -> [[UInt8]] {
        let start = ContinuousClock.now
        var pause = Self.firstPauseMilliseconds
        while true {
            let known = state.withLock { max($0.known, number) }
            let found = try entries(after: number)
            let left = milliseconds - Int(start.duration(to: .now) / .milliseconds(1))
            if !found.isEmpty || left <= 0 { return found }
            // Another process may append at any time, and cannot wake this one.
            let isClosed = state.wait(milliseconds: min(left, pause)) { state -> Bool? in
                state.isClosed ? true : state.known > known ? false : nil
            }
            if isClosed == true { return [] }
            pause = min(2 * pause, Self.longestPauseMilliseconds)
        }
    }

    private func entries(after number: UInt64) throws -> [[UInt8]] {
        var entries: [[UInt8]] = []
        var (next, byteCount) = (number + 1, 0)
        while byteCount < Self.pageBytes, next % Self.folderEntries != 0 || entries.isEmpty, try exists(next) {
            let bytes: [UInt8]
            do { bytes = try files.readAll(path(of: next), atMost: Self.readableBytes) } catch let error as StrataError
                where error.code == .notFound
            { break }  // A trim has removed it.
            byteCount += bytes.count
            entries.append(bytes)
            next += 1
        }
        // IMPORTANT: Check this after reading, because a trimmed number may be linked again before its writer notices.
        let floor = try floor()
        guard floor <= number else {
            throw StrataError(
                .outOfRange, "The sequencer was trimmed past the entry; copy the store from a process that has it.",
                .init(path: path, expected: "a number after \(floor)", found: "\(number + 1)"))
        }
        if entries.isEmpty { return [] }
        try makeDurable(through: next - 1)
        note(next - 1)
        return entries
    }

    /// Syncs the names of entries of one folder that another process may not have synced. Entries that this process
    /// acts on must not be lost if that process's machine fails.
    private func makeDurable(through number: UInt64) throws {
        guard state.withLock({ $0.durable < number }) else { return }
        try syncNames(of: number)
        state.withLock { $0.durable = max($0.durable, number) }
    }

    package func last() throws -> UInt64 {
        while true {
            let floor = try floor()
            let last = try last(after: floor)
            // A trim may have removed it in the meantime.
            if try self.floor() == floor { return last }
        }
    }

    private func last(after floor: UInt64) throws -> UInt64 {
        var low = state.withLock { $0.known }
        // Entries that were lost must not be reported.
        if low <= floor { low = floor } else if try !exists(low) { low = floor }
        var step: UInt64 = 1
        while try exists(low + step) {
            low += step
            step *= 2
        }
        // The last one is from `low` to before `low + step`.
        while step > 1 {
            step /= 2
            if try exists(low + step) { low += step }
        }
        let isNews = state.withLock { state in
            defer { state.known = low }
            return state.known < low
        }
        if isNews { state.notifyAll() }
        return low
    }

    // MARK: Trimming

    /// Returns the number up to which entries were trimmed.
    private func floor() throws -> UInt64 {
        guard try files.exists(floorPath) else { return 0 }
        let bytes = try files.readAll(floorPath, atMost: 64)
        // Numbers after it must not overflow.
        guard let number = UInt64(String(decoding: bytes, as: UTF8.self)), number <= UInt64(Int64.max) else {
            throw StrataError(.malformed, "The file with the sequencer's floor is damaged.", .init(path: floorPath))
        }
        return number
    }

    package func trim(through number: UInt64) throws -> UInt64 {
        let lock = try files.open(path + "/LOCK", .writeOrCreate)
        defer { lock.close() }
        guard try lock.tryLock() else {
            throw StrataError(.locked, "Another process is trimming the sequencer; try again.", .init(path: path))
        }
        let (floor, last) = (try floor(), try last())
        let target = max(floor, min(number, last))
        // IMPORTANT: the floor is durable before anything is removed, or entries would look lost.
        if target > floor { try files.replace(floorPath, in: path, with: Array(String(target).utf8)) }
        try removeEntries(through: target)
        try removeOldDrafts()
        return target
    }

    /// Removes trimmed entries, also those that an interrupted trim left, so that no loss of power brings one back.
    private func removeEntries(through target: UInt64) throws {
        for name in try files.list(path) where name.utf8.count == Self.digits {
            guard let number = UInt64(name), number <= target / Self.folderEntries else { continue }
            let folder = path + "/" + name
            let trimmed = try files.list(folder).filter { UInt64($0).map { $0 <= target } ?? false }
            for entry in trimmed { try files.remove(folder + "/" + entry) }
            if !trimmed.isEmpty { try files.syncDirectory(folder) }
        }
    }

    /// Removes the drafts of writers that ended long ago, which may hold what has been erased.
    private func removeOldDrafts() throws {
        for name in try files.list(drafts) {
            let draft = drafts + "/" + name
            do {
                let file = try files.open(draft, .read)
                defer { file.close() }
                if try file.status().isOlder(than: Self.draftSeconds, at: platform.time) { try files.remove(draft) }
            } catch let error as StrataError where error.code == .notFound {}
        }
    }

    package func close() {
        state.withLock { $0.isClosed = true }
        state.notifyAll()
    }
}
