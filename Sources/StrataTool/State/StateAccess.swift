import StrataLog
import StrataModel
import StrataStore
import StrataSystem
import StrataViews

/// A store's state for reading, at its end or at a point before it, as far as the store is whole.
struct StateAccess {
    let store: Store
    /// What keeps the state that was asked for from being read, where an earlier one is shown; nil if nothing does.
    let damage: StrataError?
    private let path: String
    private let files: ReadOnlyFiles

    /// - Throws: what keeps even the beginning from being read; ``StrataError`` `outOfRange` for a moment that the
    ///   store does not have.
    static func open(_ path: String, _ moment: Moment? = nil, options: StoreOptions = .service) throws -> StateAccess {
        do {
            let store = try Store.openForReading(at: path, moment, options: options)
            return StateAccess(store: store, damage: nil, path: path, files: ReadOnlyFiles())
        } catch let error as StrataError where error.isDamage {
            return try open(path, moment, options, inFrontOf: error)
        }
    }

    /// Opens the state that a command line asks for, and has it printed. What cannot be asked ends with 1 and the
    /// reason, and damage with 3, behind what is printed of the state in front of it.
    static func read(
        _ arguments: Arguments, options: StoreOptions = .service, by command: String, _ output: Output,
        _ body: (StateAccess) throws -> ExitCode
    ) throws -> ExitCode {
        try read(arguments.store, arguments[Option.at], options: options, by: command, output, body)
    }

    /// As ``read(_:options:by:_:_:)``, of commands whose first operand is no store.
    static func read(
        _ path: String, _ moment: Moment?, options: StoreOptions = .service, by command: String, _ output: Output,
        _ body: (StateAccess) throws -> ExitCode
    ) throws -> ExitCode {
        let state: StateAccess
        do { state = try open(path, moment, options: options) } catch let error as StrataError
            where error.code == .outOfRange && moment != nil
        {
            Diagnostics.report("\(error)", by: command)
            return .no
        }
        let offset = state.store.offset
        let code: ExitCode
        // A compaction may remove the commits whose times are printed: then the command starts again.
        output.holdsFirstLine = true
        do { code = try state.answer(options, output, body) } catch let refusal as Refusal {
            // What was printed before it happened comes first.
            try output.flush()
            Diagnostics.report(refusal.message, by: command)
            code = .no
        }
        guard let damage = state.damage else { return code }
        try output.flush()
        Diagnostics.report("the store is damaged; this is its state at offset \(offset)", by: command)
        throw damage
    }

    /// Has `body` answer, and where it meets a damaged page of the page file, anew from the log.
    private func answer(
        _ options: StoreOptions, _ output: Output, _ body: (StateAccess) throws -> ExitCode
    ) throws -> ExitCode {
        let offset = store.offset
        do {
            defer { try? store.close() }
            return try body(self)
        } catch let error as StrataError where Views.isDamage(error) {
            var files = files
            files.hidesViews = true
            let folded = try Store.open(
                at: path, through: offset, options: options.lean, platform: Platform(files: files))
            defer { try? folded.close() }
            output.startAgain()
            return try body(StateAccess(store: folded, damage: damage, path: path, files: files))
        }
    }

    /// Calls `body`. If it throws `outOfRange` and the log is damaged, throws the damage instead, since the commit may
    /// lie after it.
    func tellingDamage<Result>(_ body: () throws -> Result) throws -> Result {
        do { return try body() } catch let error as StrataError where error.code == .outOfRange {
            throw damage ?? error
        }
    }

    /// The log that the state is folded from. It may go on behind the state.
    func log() throws -> LogReader {
        try LogReader.open(at: path, requiresWholeEnd: files.limit == nil, platform: Platform(files: files))
    }

    /// The store as it was at an offset before.
    func past(at offset: UInt64) throws -> Store {
        try Store.open(at: path, through: offset, options: StoreOptions.service.lean, platform: Platform(files: files))
    }

    // MARK: Damage

    private static func open(
        _ path: String, _ moment: Moment?, _ options: StoreOptions, inFrontOf first: StrataError
    ) throws -> StateAccess {
        var (error, shown, files) = (first, first, ReadOnlyFiles())
        while let limit = limit(below: error, path, files) {
            files.limit = limit
            do {
                guard let (offset, isCertain) = try place(of: moment, path, files) else { break }
                let store = try Store.open(
                    at: path, through: offset, options: options.lean, platform: Platform(files: files))
                return StateAccess(store: store, damage: isCertain ? nil : shown, path: path, files: files)
            } catch let next as StrataError where next.isDamage {
                shown = StoreAccess.told(next, of: shown)
                error = next
            }
        }
        throw shown
    }

    /// The last commit that counts of what is whole, and whether it would also be that without the damage; nil for one
    /// that lies behind it.
    private static func place(
        of moment: Moment?, _ path: String, _ files: ReadOnlyFiles
    ) throws -> (offset: UInt64, isCertain: Bool)? {
        let log = try LogReader.open(at: path, requiresWholeEnd: false, platform: Platform(files: files))
        guard let moment else { return (log.end.offset, false) }
        if case .offset(let offset) = moment, offset > log.end.offset { return nil }
        let offset = try moment.offset(in: log)
        return (offset, moment == .offset(offset) || offset < log.end.offset)
    }

    private static func limit(
        below error: StrataError, _ path: String, _ files: ReadOnlyFiles
    ) -> ReadOnlyFiles.Limit? {
        if let limit = StoreAccess.limit(below: error, path, files) { return limit }
        // A commit that is whole but cannot be understood is known by its offset alone.
        guard error.isDamage, error.context.segment == nil, let offset = error.context.offset,
            let place = try? StoreAccess(path).reader.place(of: offset), place.block == nil
        else { return nil }
        let limit = ReadOnlyFiles.Limit(segment: place.path, byteCount: place.range.lowerBound)
        return limit == files.limit ? nil : limit
    }
}
