import StrataModel
import StrataSystem

/// The files before the segments: the store's identity, the floor, and the base that belongs to it.
extension DamageScan {
    mutating func readIdentity() throws {
        do {
            let identity = try LogDirectory.readIdentity(paths, files)
            (report.identity, storeID) = (identity, identity.storeID)
        } catch let error as StrataError where error.isDamage {
            note(error, cut: .everything)
            try noteBytes(of: paths.identity, error)
        }
    }

    /// Notes all bytes of a file that is one header block: nothing in it is certain if its checksum does not match.
    private mutating func noteBytes(of path: String, _ error: StrataError) throws {
        guard error.code != .newerFormat else { return }
        let count = try files.readAll(path, atMost: LogFormat.headerBlockMaximumBytes).count
        if count > 0 { extent.bytes.append(.init(path: path, range: 0..<count)) }
    }

    mutating func readFloor() throws {
        do {
            guard let mark = try FloorMark.read(paths, files) else { return try checkNoFloorIsNeeded() }
            if let storeID, mark.storeID != storeID {
                throw LogDirectory.foreign(paths.floor, nil, expected: storeID, found: mark.storeID)
            }
            begin(after: mark)
        } catch let error as StrataError where error.isDamage {
            let mend = error.code == .newerFormat ? nil : try floorBySegments()
            note(error, cut: mend == nil ? .everything : nil)
            try noteBytes(of: paths.floor, error)
            isFloorKnown = mend != nil
            mends += [mend].compactMap(\.self)
            if case .floor(let mark) = mend { begin(after: mark) }
        }
    }

    private mutating func begin(after mark: FloorMark) {
        floor = mark
        namedOffset = mark.position.offset
        (report.end, keptEnd) = (mark.position, mark.position)
    }

    /// Segments are removed only once `FLOOR` names the base that replaces them. If they do not begin at 1 and a base
    /// replaces the preceding commits, then it is `FLOOR` that is missing.
    private mutating func checkNoFloorIsNeeded() throws {
        guard let first = try LogDirectory.names(paths, files).first, first > 1, let mend = try floorBySegments(),
            case .floor(let mark) = mend, mark.hasBase,
            // A compaction may just have written it; then files that were listed before are gone, which is noticed.
            try !files.exists(paths.floor)
        else { return }
        note(
            StrataError(
                .missingSegment, "The file that records where the log begins is missing.",
                .init(
                    path: paths.floor, expected: "a floor at \(mark.position)",
                    found: "segments from offset \(first), and a base up to \(mark.position.offset)")),
            cut: nil)
        mends.append(mend)
        begin(after: mark)
    }

    /// Derives the floor from the start of the segments, if they follow one another without a gap.
    private func floorBySegments() throws -> RepairStep? {
        var headers: [SegmentHeader] = []
        for name in try LogDirectory.names(paths, files) {
            let file = try files.open(paths.segment(name), .read)
            defer { file.close() }
            guard let header = try? SegmentHeader.read(file), header.firstOffset == name,
                header.storeID == storeID ?? header.storeID
            else { return nil }
            if let last = headers.last, try sealedEnd(of: last) != header.before { return nil }
            headers.append(header)
        }
        guard let first = headers.first else { return nil }
        if first.firstOffset == 1 { return .noFloor }
        let bases = try LogDirectory.bases(paths, files)
        if let horizon = bases.last {
            guard horizon >= first.before.offset, let base = try wholeBase(horizon, first.storeID) else { return nil }
            return .floor(base)
        }
        return .floor(FloorMark(storeID: first.storeID, position: first.before, time: first.timeBefore))
    }

    private func wholeBase(_ horizon: UInt64, _ storeID: Identifier) throws -> FloorMark? {
        let file = try files.open(paths.base(horizon), .read)
        defer { file.close() }
        do {
            var base = try BaseReader(file)
            let mark = base.mark
            guard mark.storeID == storeID, mark.position.offset == horizon else { return nil }
            while try base.next() != nil {}
            return mark
        } catch let error as StrataError where error.isDamage { return nil }
    }

    /// Reads the base that replaces the history up to the floor. It has all names that were introduced up to there.
    mutating func readBase() throws {
        guard let floor, floor.hasBase else { return }
        let path = paths.base(floor.position.offset)
        guard try files.exists(path) else {
            report.end = .start
            return note(
                StrataError(
                    .missingSegment, "The base that replaces the history up to the floor is missing.",
                    .init(offset: floor.position.offset, path: path)), cut: .everything)
        }
        let file = try files.open(path, .read)
        defer { file.close() }
        report.fileBytes += try file.size()
        // Without its header, nothing in a base can be checked.
        var bad = 0..<(try file.size())
        do {
            var base = try BaseReader(file)
            try base.require(floor)
            bad = try base.nextRange()
            var brought: NameTable? = NameTable()
            while let payload = try base.next() {
                for event in try Envelope(decoding: payload).events where event.kind == .nameInterned {
                    let name = try InternedName(decoding: event.body)
                    do { try brought?.add(name) } catch { brought = nil }
                }
                bad = try base.nextRange()
            }
            names = brought
            report.base = base.horizon
        } catch let error as StrataError where error.isDamage {
            note(error.located(path: path, offset: floor.position.offset), cut: .everything)
            // The commits that it replaces exist nowhere else.
            report.end = .start
            if error.code != .newerFormat, !bad.isEmpty { extent.bytes.append(.init(path: path, range: bad)) }
        }
    }

    func baseBytes(_ floor: FloorMark) throws -> Int {
        let path = paths.base(floor.position.offset)
        guard floor.hasBase, try files.exists(path) else { return 0 }
        let file = try files.open(path, .read)
        defer { file.close() }
        return try file.size()
    }

    private func sealedEnd(of header: SegmentHeader) throws -> Position? {
        let file = try files.open(paths.segment(header.firstOffset), .read)
        defer { file.close() }
        if header.form == .blocks { return try? SealedSegment.readSeal(file, header).end }
        return try? LogDirectory.findSeal(file, header)?.end
    }

    /// Reports commits that are missing at the end although another file proves that they were synced.
    mutating func checkEndIsWhole() {
        guard let storeID else { return }
        if report.damage == nil, !segments.isEmpty {
            let lost = witnesses.lostEnd(after: report.end.offset, of: storeID) {
                try LogReader.open(at: paths.store, requiresWholeEnd: false, platform: Platform(files: files)) { _ in []
                }
            }
            if let lost { note(lost, cut: nil) }
        }
        guard report.damage != nil else { return }
        for witness in witnesses.beyond(namedOffset, of: storeID) { namedOffset = witness.position.offset }
    }

    mutating func checkFloorIsReached() {
        // If there is damage before the end, that is the reason.
        guard report.damage == nil, let floor, report.end.offset < floor.position.offset else { return }
        note(LogDirectory.endsBeforeFloor(report.end, floor, paths), cut: .everything)
    }
}
