import StrataLog
import StrataModel
import StrataStore
import StrataSystem
import StrataViews

/// Reads a store's state, at its end or at an earlier point, as far as the store is intact.
struct StateAccess {
    let store: Store
    /// The damage because of which an earlier state than the requested one is shown; nil if there is none.
    let damage: StrataError?
    private let path: String
    private let files: ReadOnlyFiles

    /// - Throws: the damage if even the beginning cannot be read; ``StrataError`` `outOfRange` for a moment outside the
    ///   store's history.
    static func open(_ path: String, _ moment: Moment? = nil, options: StoreOptions = .service) throws -> StateAccess {
        do {
            let store = try Store.openForReading(at: path, moment, options: options)
            return StateAccess(store: store, damage: nil, path: path, files: ReadOnlyFiles())
        } catch let error as StrataError where error.isDamage {
            return try open(path, moment, options, inFrontOf: error)
        }
    }

    /// Opens the requested state and calls `body` to print it. A refused request ends with 1 and the reason. Damage
    /// ends with 3, after the last intact state before it is printed.
    static func read(
        _ arguments: Arguments, options: StoreOptions = .service, by command: String, _ output: Output,
        _ body: (StateAccess) throws -> ExitCode
    ) throws -> ExitCode {
        try read(arguments.store, at: arguments[Option.at], options: options, by: command, output, body)
    }

    /// Does the same as ``read(_:options:by:_:_:)``, for commands whose first operand is not a store.
    static func read(
        _ path: String, at moment: Moment? = nil, options: StoreOptions = .service, by command: String,
        _ output: Output, _ body: (StateAccess) throws -> ExitCode
    ) throws -> ExitCode {
        let state: StateAccess
        do { state = try open(path, moment, options: options) } catch let error as StrataError
            where error.code == .outOfRange && moment != nil
        {
            return Diagnostics.refuse("\(error)", code: error.code, by: command)
        }
        let offset = state.store.offset
        let code: ExitCode
        // A compaction may remove the commits whose times are printed. The command then starts over.
        output.holdsFirstLine = true
        do { code = try state.answer(options, output, body) } catch let refusal as Refusal {
            // Output printed before the refusal comes first.
            try output.flush()
            code = Diagnostics.refuse(refusal, by: command)
        }
        guard let damage = state.damage else { return code }
        try output.flush()
        Diagnostics.remark("the store is damaged; this is its state at offset \(offset)", by: command)
        throw damage
    }

    /// Calls `body`, and if it meets damaged views, calls it again with a state replayed from the
    /// log.
    private func answer(
        _ options: StoreOptions, _ output: Output, _ body: (StateAccess) throws -> ExitCode
    ) throws -> ExitCode {
        let offset = store.offset
        do {
            defer { try? store.close() }
            return try body(self)
        } catch let error where Self.startsOver(after: error) {
            var files = files
            files.hidesViews = true
            let folded = try Store.open(
                at: path, through: offset, options: options.lean, platform: Platform(files: files))
            defer { try? folded.close() }
            output.startAgain()
            return try body(StateAccess(store: folded, damage: damage, path: path, files: files))
        }
    }

    /// Returns true for the error of damaged views, after which a command starts over with a state replayed from the
    /// log.
    static func startsOver(after error: any Error) -> Bool {
        (error as? StrataError).map { Views.isDamage($0) } ?? false
    }

    /// Calls `body`. If it throws `outOfRange` and the log is damaged, throws the damage instead, since the commit may
    /// follow the damage.
    func tellingDamage<Result>(_ body: () throws -> Result) throws -> Result {
        do { return try body() } catch let error as StrataError where error.code == .outOfRange {
            throw damage ?? error
        }
    }

    /// Opens the log from which the state is replayed. It may continue after the state.
    func log() throws -> LogReader {
        try LogReader.open(at: path, requiresWholeEnd: files.limit == nil, platform: Platform(files: files))
    }

    /// Opens the store as it was at an earlier offset, with the same options as this one.
    func asOf(_ offset: UInt64, options: StoreOptions) throws -> StateAccess {
        let store = try Store.open(at: path, through: offset, options: options.lean, platform: Platform(files: files))
        return StateAccess(store: store, damage: nil, path: path, files: files)
    }

    /// Opens the store as it was at an earlier offset.
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

    /// Returns the last intact commit to include, and true if the damage cannot change that choice; nil for a moment
    /// after the intact commits.
    private static func place(
        of moment: Moment?, _ path: String, _ files: ReadOnlyFiles
    ) throws -> (offset: UInt64, isCertain: Bool)? {
        let log = try LogReader.open(at: path, requiresWholeEnd: false, platform: Platform(files: files))
        guard let moment else { return (log.end.offset, false) }
        switch moment {
        case .commit(.offset(let offset)):
            if offset > log.end.offset { return nil }
            return (try moment.offset(in: log), true)
        case .commit(.fromEnd): return (try moment.offset(in: log), false)
        case .time:
            let offset = try moment.offset(in: log)
            return (offset, offset < log.end.offset)
        }
    }

    private static func limit(
        below error: StrataError, _ path: String, _ files: ReadOnlyFiles
    ) -> ReadOnlyFiles.Limit? {
        if let limit = StoreAccess.limit(below: error, path, files) { return limit }
        // An intact commit that cannot be decoded is identified by its offset alone.
        guard error.isDamage, error.context.segment == nil, let offset = error.context.offset,
            let place = try? StoreAccess(path).reader.place(of: offset), place.block == nil
        else { return nil }
        let limit = ReadOnlyFiles.Limit(segment: place.path, byteCount: place.range.lowerBound)
        return limit == files.limit ? nil : limit
    }
}
