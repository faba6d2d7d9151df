import Foundation

// On Apple's platforms every object can be a format argument, for instance of a predicate; here the classes conform.
extension CVarArg where Self: NSObject {
    public var _cVarArgEncoding: [Int] { [Int(bitPattern: Unmanaged.passUnretained(self).toOpaque())] }
}
