//! The modules there are.

use std::sync::Arc;

use hook_core::run::{ErrorListener, ModuleErrors, ModuleFault, ModuleHandle};
use hook_core::{HandlerHook, HostServices};

use super::api::{HookModule, ModuleApi, ModuleError};
use super::command::{CommandInfo, RegisteredCommand};
use super::renderer::MessageRenderer;

/// The modules of a host: their commands and renderers, in the order in which they were loaded.
#[derive(Debug, Clone, Default)]
pub struct Modules {
    handles: Vec<ModuleHandle>,
    commands: Vec<Arc<RegisteredCommand>>,
    renderers: Vec<(String, MessageRenderer)>,
    errors: Arc<ModuleErrors>,
}

impl Modules {
    /// Loads one more; gives its handlers, as hooks.
    pub(crate) fn load(
        &mut self,
        module: &impl HookModule,
    ) -> Result<Vec<HandlerHook>, ModuleError> {
        let api = ModuleApi::load(module, &self.errors)?;
        self.handles.push(api.handle().clone());
        let ModuleApi { hooks, commands, renderers, .. } = api;
        self.commands.extend(commands);
        self.renderers.extend(renderers);
        Ok(hooks)
    }

    /// From now on there is a host, with what it offers between calls.
    pub(crate) fn ready(&self, host: Option<&Arc<dyn HostServices>>) {
        for handle in &self.handles {
            handle.ready(host.cloned());
        }
    }

    /// The command of that name: of several, the first that was loaded.
    pub fn get_command(&self, name: &str) -> Option<&Arc<RegisteredCommand>> {
        self.commands.iter().find(|command| command.name() == name)
    }

    /// All commands, those included whose name another has.
    pub fn get_registered_commands(&self) -> &[Arc<RegisteredCommand>] {
        &self.commands
    }

    /// What shows messages of that kind: of several, the first that was loaded.
    pub fn get_message_renderer(&self, custom_type: &str) -> Option<&MessageRenderer> {
        let mut renderers = self.renderers.iter();
        renderers.find(|(known, _)| known == custom_type).map(|(_, renderer)| renderer)
    }

    /// Has somebody told of each handler that fails where that blocks nothing, until what is given back is
    /// dropped. It must not block.
    pub fn on_error(
        &self,
        listener: impl Fn(&ModuleFault) + Send + Sync + 'static,
    ) -> ErrorListener {
        self.errors.on_error(listener)
    }

    /// All commands, as they are listed.
    pub(crate) fn commands(&self) -> impl Iterator<Item = CommandInfo> + '_ {
        let info = |it: &Arc<RegisteredCommand>| {
            CommandInfo::new(it.name(), it.description(), it.module())
        };
        self.commands.iter().map(info)
    }

    /// Who is told of errors.
    pub(crate) fn errors(&self) -> &Arc<ModuleErrors> {
        &self.errors
    }
}
