import StrataModel

/// One result of a statement: its rows, or an error. It frees libpq's memory when it goes.
final class PQResult {
    // Values of `ExecStatusType` in `libpq-fe.h`.
    private static let commandOK: CInt = 1
    private static let tuplesOK: CInt = 2

    private let library: PQLibrary
    private let handle: OpaquePointer

    /// - Parameter handle: a result that nothing else frees.
    init(_ library: PQLibrary, owning handle: OpaquePointer) {
        self.library = library
        self.handle = handle
    }

    deinit { library.clear(handle) }

    /// The failure that the result is; nil if the statement was executed.
    var failure: PQFailure? {
        defer { withExtendedLifetime(self) {} }
        let status = library.resultStatus(handle)
        if status == Self.commandOK || status == Self.tuplesOK { return nil }
        return PQFailure(library, handle)
    }

    var rowCount: Int {
        defer { withExtendedLifetime(self) {} }
        return Int(library.rowCount(handle))
    }

    /// Returns a value; nil if it is null, or if there is no such row or column.
    func bytes(_ row: Int, _ column: Int) -> [UInt8]? {
        // Libpq's memory is freed with this object, which could be released once its handle was read.
        defer { withExtendedLifetime(self) {} }
        guard row < rowCount, column < library.columnCount(handle) else { return nil }
        let (row, column) = (CInt(row), CInt(column))
        guard library.isNull(handle, row, column) == 0, let start = library.value(handle, row, column) else {
            return nil
        }
        // libpq keeps as many bytes as it states until the result is cleared.
        return Array(UnsafeBufferPointer(start: start, count: Int(library.valueLength(handle, row, column))))
    }

    /// Returns a value that was asked for in the text format, or a `text` value in any.
    func text(_ row: Int, _ column: Int) -> String? {
        bytes(row, column).map { String(decoding: $0, as: UTF8.self) }
    }

    /// Returns a `uuid` that was asked for in the binary format.
    func identifier(_ row: Int, _ column: Int) -> Identifier? {
        guard let bytes = bytes(row, column), bytes.count == 16 else { return nil }
        func half(_ bytes: ArraySlice<UInt8>) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }
        return Identifier(high: half(bytes[..<8]), low: half(bytes[8...]))
    }

    /// Returns a `bigint` that was asked for in the binary format, and is not negative.
    func number(_ row: Int, _ column: Int) -> UInt64? {
        guard let bytes = bytes(row, column), bytes.count == 8, bytes[0] < 0x80 else { return nil }
        return bytes.reduce(0) { $0 << 8 | UInt64($1) }
    }
}

/// An error or a notice that a server sent, or an error of the connection.
package struct PQFailure: Sendable {
    /// `ERROR`, `FATAL`, `PANIC` or `WARNING`; nil if the server did not say, because the connection was lost.
    var severity: String?
    /// The five characters that PostgreSQL calls `SQLSTATE`.
    var state: String?
    var message: String

    /// Returns the first line, without the blanks after it.
    static func firstLine(_ text: String) -> String {
        text.split(separator: "\n").first.map(String.init) ?? "no message"
    }

    /// True if only the statement failed; the connection can be used further.
    var isOfStatement: Bool { severity == "ERROR" }

    /// Returns the failure as an error of the engine.
    func error(at address: String) -> StrataError {
        let context = StrataError.Context(path: address, found: state.map { "\(message) (\($0))" } ?? message)
        guard isOfStatement else {
            return StrataError(.unreachable, "The connection to the server was lost; it is opened again.", context)
        }
        switch state {
        case "42P01", "3F000":
            return StrataError(.notFound, "The database has no such store; create it with `strata create`.", context)
        case "42501":
            return StrataError(
                .permissionDenied, "The role lacks a privilege; grant it as the role that created the store.",
                context)
        case "53100": return StrataError(.noSpace, "The server has no space left.", context)
        case "25006": return StrataError(.unreachable, "The server is not the primary.", context)
        default: return StrataError(.inputOutput, "The server reported an error.", context)
        }
    }
}

extension PQFailure {
    /// Reads a result, or the argument of a notice receiver, which stays its owner's.
    init(_ library: PQLibrary, _ handle: OpaquePointer) {
        func field(_ code: UInt8) -> String? {
            library.resultErrorField(handle, CInt(code)).map { String(cString: $0) }
        }
        let text = field(UInt8(ascii: "M")) ?? library.resultErrorMessage(handle).map { String(cString: $0) }
        self.init(
            severity: field(UInt8(ascii: "V")), state: field(UInt8(ascii: "C")),
            message: Self.firstLine(text ?? ""))
    }
}

/// All that came for one statement.
package struct PQAnswer {
    /// The result of the statement, or of the last one of several; nil if it failed.
    var result: PQResult?
    package var failure: PQFailure?
    /// A warning: the statement was executed, but not as it should be.
    var warning: PQFailure?

    /// True if the statement had no effect for sure: it failed by itself, before anything was reported as done.
    var isRefusal: Bool { failure?.isOfStatement == true && result == nil }
}
