import Glibc
import StrataModel

/// A client library that is loaded when a store first connects, so that programs without servers need not have it.
package struct DynamicLibrary: Sendable {
    private let name: String
    // The loader's handle, which is never closed and which any thread may use.
    private let handle: UInt

    /// Loads a library.
    ///
    /// - Parameter debianPackage: the package that has the library, for the error.
    package init(_ name: String, debianPackage: String) throws {
        guard let handle = dlopen(name, RTLD_NOW | RTLD_LOCAL) else {
            throw StrataError(
                .notFound, "A client library is missing; install its package and open the store again.",
                .init(path: name, expected: "apt install \(debianPackage)", found: Self.lastError()))
        }
        self.name = name
        self.handle = UInt(bitPattern: handle)
    }

    /// Returns a function of the library, whose type at the caller has `@convention(c)`, or the address of a variable.
    package func function<Function>(_ symbol: String) throws -> Function {
        guard let address = dlsym(UnsafeMutableRawPointer(bitPattern: handle), symbol) else {
            throw StrataError(
                .notFound, "A client library is too old: it lacks a function.",
                .init(path: name, expected: symbol, found: Self.lastError()))
        }
        precondition(MemoryLayout<Function>.size == MemoryLayout<UnsafeMutableRawPointer>.size)
        // The address of a C function is its value; the caller states the type that the library's header declares.
        return unsafeBitCast(address, to: Function.self)
    }

    private static func lastError() -> String? { dlerror().map { String(cString: $0) } }
}
