import StrataLog
import StrataModel
import StrataSystem

/// `strata dump`: the bytes of a store's files, field by field.
enum DumpCommand: Command {
    static let name = "dump"
    static let summary = "print the bytes of a store's log, field by field"
    static let details =
        "Prints each field with its position in the file, its bytes in hexadecimal digits, and its meaning. It relies "
        + "only on the bytes that it prints, so it also prints damaged parts. For the store's secret it prints zeros. "
        + "Without --segment and --offset it prints "
        + "STORE, FLOOR, bases and all segments."

    static let segment = Option.number(
        "--segment", "N", 1...Version.maximumOffset, help: "print the segment whose file has the name N")
    static let offset = Option.commit("--offset", help: "print the frames of that commit")
    static let limit = Option.limit("--limit", help: "print at most N frames and other pieces of each segment and base")
    static let bytes = Option.number(
        "--bytes", "N", 0...UInt64.max, help: "print at most N bytes of each field; the default is 256")

    static let readsAddresses = true
    static let operands = [Operand.storeOrAddress]
    static let options: [any OptionDescription] = [
        segment, offset, limit, bytes, AddressCopy.directory, SequencerAddress.files,
    ]
    static let examples = [
        "strata dump Notes.strata --offset 12", "strata dump Notes.strata --segment 1 --limit 3",
    ]

    static func run(_ arguments: Arguments, _ output: Output) throws -> ExitCode {
        if arguments.has(segment), arguments.has(offset) {
            throw UsageError("--segment and --offset cannot be combined")
        }
        try StoreAccess.requireDirectory(arguments.store)
        let paths = StorePaths(arguments.store)
        let files = ReadOnlyFiles()
        let names = try files.list(paths.log).compactMap(LogFormat.firstOffset(ofSegmentNamed:)).sorted()
        let printer = HexPrinter(
            byteLimit: arguments[bytes] ?? 256, mask: SecretMask(of: arguments.store), output: output)
        if let commit = arguments[offset] {
            let offset = try commit.offset(upTo: StoreAccess(arguments.store).reader.end.offset)
            return try dump(offset: offset, segments: names, paths, files, printer)
        }
        if let segment = arguments[segment] {
            guard names.contains(segment) else {
                let known = names.map { "\($0)" }.joined(separator: ", ")
                return Diagnostics.refuse("there is no segment \(segment); the segments are: \(known)", by: name)
            }
            try dump(segment: paths.segment(segment), limit: arguments[limit], files, printer)
            return .success
        }
        for path in [paths.identity, paths.floor] where try files.exists(path) {
            try printer.writeTitle(path)
            try printer.write(ByteLayout.headerBlock(of: path, files: files))
        }
        for horizon in try files.list(paths.log).compactMap(LogFormat.horizon(ofBaseNamed:)).sorted() {
            try dump(segment: paths.base(horizon), limit: arguments[limit], files, printer)
        }
        for name in names { try dump(segment: paths.segment(name), limit: arguments[limit], files, printer) }
        return .success
    }

    private static func dump(
        segment path: String, limit: UInt64?, _ files: ReadOnlyFiles, _ printer: HexPrinter
    ) throws {
        try printer.writeTitle(path)
        var count: UInt64 = 0
        try SegmentByteLayout(path: path, files: files).walk { anatomy in
            try printer.write(anatomy)
            count += 1
            // The header does not count as a frame.
            return count <= limit ?? UInt64.max
        }
    }

    /// Searches the segment that should contain the offset by its name, then the others.
    private static func dump(
        offset: UInt64, segments names: [UInt64], _ paths: StorePaths, _ files: ReadOnlyFiles, _ printer: HexPrinter
    ) throws -> ExitCode {
        let likely = names.last { $0 <= offset }
        for segment in [likely].compactMap(\.self) + names.filter({ $0 != likely }) {
            var isFound = false
            try SegmentByteLayout(path: paths.segment(segment), files: files).walk { anatomy in
                guard anatomy.offsets?.contains(offset) == true else { return !isFound }
                if !isFound { try printer.writeTitle(paths.segment(segment)) }
                isFound = true
                try printer.write(anatomy)
                return true
            }
            if isFound { return .success }
        }
        return Diagnostics.refuse("no segment has a valid frame of a commit at offset \(offset)", by: name)
    }
}

/// Prints bytes as docs/format.md does: the position, the digits and the meaning. Secrets are printed as zeros.
private struct HexPrinter {
    private static let bytesPerLine = 16

    let byteLimit: UInt64
    let mask: SecretMask
    let output: Output

    func writeTitle(_ path: String) throws {
        try output.writeLine(Printable.escaped(path))
    }

    func write(_ anatomy: ByteLayout) throws {
        try output.writeLine("\n\(Printable.escaped(anatomy.title)), at \(anatomy.position):")
        var position = 0
        for field in anatomy.fields {
            try write(field, anatomy.bytes[position..<position + field.count], at: anatomy.position + position)
            position += field.count
        }
    }

    private func write(_ field: ByteLayout.Field, _ bytes: ArraySlice<UInt8>, at position: Int) throws {
        let shown = mask.masked(bytes).prefix(Int(clamping: byteLimit))
        var place = shown.startIndex
        repeat {
            let piece = shown[place..<min(place + Self.bytesPerLine, shown.endIndex)]
            if bytes.isEmpty { return }
            let digits = piece.map { hexadecimal($0) }.joined(separator: " ")
            let number = "\(position + place - bytes.startIndex)"
            let isFirst = place == shown.startIndex && !field.what.isEmpty
            output.write(number.leftPadded(to: 8) + "  " + (isFirst ? digits.padded(to: 49) : digits))
            if isFirst { output.write(Printable.escaped(field.what)) }
            try output.endLine()
            place += piece.count
        } while place < shown.endIndex
        if shown.count < bytes.count {
            try output.writeLine("          … \((bytes.count - shown.count).counted("byte")) more")
        }
    }
}
