import Logging
import LoggingAsOS
import Neighbor
import Ported
import StrataOS
import Surface
import SurfaceSwift5

#if canImport(os)
#error("StrataOS made a module os visible to a target that did not ask for it")
#endif

LogOutput.minimumLevel = .info
let (changed, unchanged) = (Logging.log(1), LoggingAsOS.log(2))
print("logged by \(changed) and \(unchanged), beside \(UnfairLock().kind)")

/// Runs what names the surface, compiled in each language mode.
for (mode, check) in [(6, Surface.checkSurface), (5, SurfaceSwift5.checkSurface)] {
    try await check()
    print("Swift \(mode): the surface is as expected")
}

let model = NotesModel()
try await model.add("first")
print("the app's model says: \(model.status)")
guard model.status == "1 notes" else { fatalError("the model did not see its change") }
