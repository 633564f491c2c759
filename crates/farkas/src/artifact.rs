//! Modules as bytes, to be stored or sent: their source, and the loops of their functions.
//!
//! In: a module.  Out: bytes, and from these the module again, without schedules being looked for. Loops are proven again like those
//! of the cache, and code is made for the machine that reads them.

use std::sync::Arc;

use diag::Source;
use serde_json::{Value, json};

use crate::cache::{Key, open, seal};
use crate::engine::{Engine, Front, Function, Module};
use crate::pipeline;
use crate::{Error, Math, Options, Result, Schedule};

/// What is sealed, so that a file of the cache is none.
const KIND: &str = "module";

impl Module {
    /// The module as bytes for [`Module::deserialize`], in this or another process, of this version of Farkas.
    ///
    /// ```
    /// use farkas::{Engine, Module};
    ///
    /// let engine = Engine::new();
    /// let module = engine.compile("fn double<N>(x: f64[N]) -> (y: f64[N]) { y[i] = 2 * x[i] }")?;
    /// let again = Module::deserialize(&module.serialize(), &engine)?;
    /// assert_eq!(again.function("double")?.signature(), module.function("double")?.signature());
    /// # Ok::<(), farkas::Error>(())
    /// ```
    pub fn serialize(&self) -> Vec<u8> {
        let functions = self.functions().iter().map(|function| {
            let code = function.code();
            json!({ "name": function.name(), "loops": &*code.generated })
        });
        let files = files(self.source());
        let content = json!({
            "files": files.iter().map(|file| json!({ "name": file.name(), "text": file.text() })).collect::<Vec<_>>(),
            "linked": self.source().is_linked(),
            "strict_order": self.strict_order,
            "fast_math": self.math == Math::Fast,
            "functions": functions.collect::<Vec<_>>(),
        });
        seal(&Key::of_text(KIND), &content.to_string())
    }

    /// The module that was serialized. Threads, instructions and limits are those of the engine, the meaning of the program is that of
    /// the engine that compiled it. Bytes that are not what [`Module::serialize`] gave are an error; whatever they are, calls of the
    /// functions touch nothing but their arrays.
    pub fn deserialize(bytes: &[u8], engine: &Engine) -> Result<Module> {
        let unusable = |why: String| Error::Unusable { why };
        let text = open(&Key::of_text(KIND), bytes).map_err(|why| unusable(why.to_string()))?;
        let stored: Value = serde_json::from_str(text).map_err(|error| unusable(error.to_string()))?;
        let missing = || unusable("something is missing in it".to_owned());
        let said = |value: &Value, what: &str| value[what].as_str().map(str::to_owned).ok_or_else(missing);
        let mut files = Vec::new();
        for file in stored["files"].as_array().ok_or_else(missing)? {
            files.push(Source::new(said(file, "name")?, said(file, "text")?));
        }
        let source = match (stored["linked"].as_bool(), files.as_slice()) {
            (Some(true), [_, ..]) => Source::linked(&files),
            (Some(false), [file]) => file.clone(),
            _ => return Err(missing()),
        };
        let options = Options {
            strict_order: stored["strict_order"].as_bool().ok_or_else(missing)?,
            math: if stored["fast_math"].as_bool().ok_or_else(missing)? { Math::Fast } else { Math::Strict },
            schedule: None::<Schedule>,
            ..engine.options().clone()
        };
        let engine = Engine::with_options(options);
        let functions = stored["functions"].as_array().ok_or_else(missing)?;
        let Front { program, log: before, .. } = engine.front_end(&source)?;
        let mut restored = Vec::new();
        for function in program.functions {
            let stored = functions.iter().find(|stored| stored["name"] == function.name.as_str());
            let text = said(stored.ok_or_else(missing)?, "loops")?;
            let mut log = before.clone();
            let code = pipeline::restore(&source, &function, engine.options(), &text, &mut log)?.map_err(unusable)?;
            restored.push(Function::new(&source, function, Arc::new(code), log, engine.options())?);
        }
        Ok(Module::new(&source, restored, engine.options()))
    }
}

/// The program's own file, and those that it uses.
fn files(source: &Source) -> Vec<Source> {
    if !source.is_linked() {
        return vec![source.clone()];
    }
    let mut files = Vec::new();
    let mut offset = 0;
    while (offset as usize) < source.text().len() {
        let (file, start) = source.file_at(offset);
        // Each ends with one more character than it has.
        offset = start.saturating_add(u32::try_from(file.text().len()).unwrap_or(u32::MAX)).saturating_add(1);
        files.push(file);
    }
    files
}
